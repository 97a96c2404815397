-- The database of one node: nodes/<name>/node.db. SQLite, WAL, one writer.
-- Everything a page brings is written in one transaction; nothing here is ever half a page.

CREATE TABLE meta (                     -- schema version, node name, job digest, index cursor
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- Frontier -------------------------------------------------------------------------------------

CREATE TABLE host (
  id            INTEGER PRIMARY KEY,
  name          TEXT NOT NULL UNIQUE,   -- host name, canonical, without port: the politeness key
  domain        TEXT NOT NULL,          -- registrable domain
  not_before    REAL NOT NULL DEFAULT 0 -- Unix time of the host's next turn
);

CREATE TABLE url (                      -- what is known of a URL when it joins: written once, and never changed
  id          INTEGER PRIMARY KEY,
  fingerprint INTEGER NOT NULL,         -- xxh3 of the canonical URL, signed 64 bit; unique by the seen-set
  url         TEXT NOT NULL,
  host_id     INTEGER NOT NULL REFERENCES host(id),
  priority    REAL NOT NULL,            -- that it joined with
  depth       INTEGER NOT NULL,         -- links away from a seed
  redirects   INTEGER NOT NULL DEFAULT 0, -- redirects that led here in a row
  sitemap     INTEGER NOT NULL DEFAULT 0 -- 1: a list of URLs, not a page
);

-- What has happened to URLs since. Most wait in the queue and have no row here; those that have one are neighbours on few
-- pages of the database, where rows of `url` that end stand far from each other.
CREATE TABLE progress (
  id          INTEGER PRIMARY KEY,      -- url.id
  state       INTEGER NOT NULL DEFAULT 0, -- frontier/state.py
  outcome     TEXT,                     -- model.Outcome of its last lease
  priority    REAL,                     -- its own by now, or that it ended with; NULL: as it joined
  attempts    INTEGER NOT NULL DEFAULT 0,
  not_before  REAL NOT NULL DEFAULT 0,  -- Unix time of the next try or visit
  redirect    INTEGER,                  -- fingerprint of the URL that it redirects to
  visits      INTEGER NOT NULL DEFAULT 0, -- how often it was read
  visited_at  REAL NOT NULL DEFAULT 0,  -- Unix time of the last visit that brought an answer
  revisit_seconds REAL NOT NULL DEFAULT 0, -- interval until the next visit, where the crawl revisits
  fingerprint INTEGER,                  -- as in `url`, if it has ever waited for a visit: sitemaps bring it forward
  host_id     INTEGER                   -- as in `url`, where who writes knows it: with `priority` its place in the queue
);
CREATE INDEX progress_due ON progress (not_before) WHERE state = 2;
CREATE INDEX progress_waiting ON progress (fingerprint) WHERE state = 2;

CREATE VIEW known_url AS                -- both together, for whoever reads
SELECT url.id, url.fingerprint, url.url, url.host_id, ifnull(progress.state, 0) AS state, progress.outcome,
       ifnull(progress.priority, url.priority) AS priority, url.depth, url.redirects, url.sitemap,
       ifnull(progress.attempts, 0) AS attempts, ifnull(progress.not_before, 0.0) AS not_before, progress.redirect,
       ifnull(progress.visits, 0) AS visits, ifnull(progress.visited_at, 0.0) AS visited_at,
       ifnull(progress.revisit_seconds, 0.0) AS revisit_seconds
FROM url LEFT JOIN progress ON progress.id = url.id;

-- What is queued, in the order in which it is fetched. A URL that ends leaves one row in `spent` first, and `sweep` takes
-- many out of the queue at once: neighbours share a page of the database, and alone each would have to write its own.
-- So what is queued are the rows of `queue` without those of `spent`. The triggers keep both, whoever writes to `url` and
-- `progress`.
CREATE TABLE queue (
  host_id  INTEGER NOT NULL,
  priority REAL NOT NULL,
  id       INTEGER NOT NULL,            -- url.id
  PRIMARY KEY (host_id, priority DESC, id)
) WITHOUT ROWID;
CREATE TABLE spent (
  sequence INTEGER PRIMARY KEY,         -- in the order in which they ended: rows are only appended
  host_id  INTEGER NOT NULL,
  priority REAL NOT NULL,
  id       INTEGER NOT NULL
);
CREATE TRIGGER url_is_queued AFTER INSERT ON url BEGIN
  INSERT INTO queue VALUES (new.host_id, new.priority, new.id);
END;
CREATE TRIGGER url_is_spent AFTER INSERT ON progress
WHEN new.state <> 0 AND (new.host_id IS NULL OR new.priority IS NULL) BEGIN
  INSERT INTO spent (host_id, priority, id) SELECT host_id, priority, id FROM url WHERE id = new.id;
END;
-- The same for who says where the URL was queued, without a look at its row.
CREATE TRIGGER url_is_spent_from AFTER INSERT ON progress
WHEN new.state <> 0 AND new.host_id IS NOT NULL AND new.priority IS NOT NULL BEGIN
  INSERT INTO spent (host_id, priority, id) VALUES (new.host_id, new.priority, new.id);
END;
CREATE TRIGGER url_is_spent_later_from AFTER UPDATE OF state ON progress
WHEN old.state = 0 AND new.state <> 0 AND old.host_id IS NOT NULL AND old.priority IS NOT NULL BEGIN
  INSERT INTO spent (host_id, priority, id) VALUES (old.host_id, old.priority, old.id);
END;
CREATE TRIGGER url_is_spent_later AFTER UPDATE OF state ON progress
WHEN old.state = 0 AND new.state <> 0 AND (old.host_id IS NULL OR old.priority IS NULL) BEGIN
  INSERT INTO spent (host_id, priority, id)
  SELECT host_id, ifnull(old.priority, priority), id FROM url WHERE id = new.id;
END;
CREATE TRIGGER url_is_revalued AFTER INSERT ON progress WHEN new.state = 0 AND new.priority IS NOT NULL BEGIN
  DELETE FROM queue WHERE (host_id, priority, id) IN (SELECT host_id, priority, id FROM url WHERE id = new.id);
  INSERT OR IGNORE INTO queue SELECT host_id, new.priority, id FROM url WHERE id = new.id;
END;
CREATE TRIGGER url_is_revalued_later AFTER UPDATE OF priority ON progress
WHEN old.state = 0 AND new.state = 0 AND old.priority IS NOT new.priority BEGIN
  DELETE FROM queue
  WHERE (host_id, priority, id) IN (SELECT host_id, ifnull(old.priority, priority), id FROM url WHERE id = new.id);
  INSERT OR IGNORE INTO queue SELECT host_id, ifnull(new.priority, priority), id FROM url WHERE id = new.id;
END;
CREATE TRIGGER url_is_queued_again AFTER UPDATE OF state ON progress WHEN old.state <> 0 AND new.state = 0 BEGIN
  DELETE FROM queue WHERE (host_id, priority, id) IN (SELECT host_id, priority, id FROM spent WHERE id = new.id);
  DELETE FROM spent WHERE id = new.id;
  INSERT OR IGNORE INTO queue SELECT host_id, ifnull(new.priority, priority), id FROM url WHERE id = new.id;
END;
CREATE TRIGGER url_is_as_it_joined AFTER DELETE ON progress BEGIN
  DELETE FROM queue WHERE (host_id, priority, id) IN (SELECT host_id, priority, id FROM spent WHERE id = old.id);
  DELETE FROM spent WHERE id = old.id;
  DELETE FROM queue
  WHERE (host_id, priority, id) IN (SELECT host_id, ifnull(old.priority, priority), id FROM url WHERE id = old.id);
  INSERT OR IGNORE INTO queue SELECT host_id, priority, id FROM url WHERE id = old.id;
END;
CREATE TRIGGER url_waits AFTER INSERT ON progress WHEN new.state = 2 AND new.fingerprint IS NULL BEGIN
  UPDATE progress SET fingerprint = (SELECT fingerprint FROM url WHERE id = new.id) WHERE id = new.id;
END;
CREATE TRIGGER url_waits_later AFTER UPDATE OF state ON progress WHEN new.state = 2 AND new.fingerprint IS NULL BEGIN
  UPDATE progress SET fingerprint = (SELECT fingerprint FROM url WHERE id = new.id) WHERE id = new.id;
END;

CREATE TABLE page_change (              -- the history of pages: what was new, changed or gone, and when
  url_id INTEGER NOT NULL REFERENCES url(id),
  at     REAL NOT NULL,                 -- Unix time
  what   TEXT NOT NULL                  -- new, changed, gone
);
CREATE INDEX page_change_at ON page_change (at);

CREATE TABLE beyond (                   -- URLs that are too far away, as long as no shorter way appears (ways.py)
  fingerprint INTEGER PRIMARY KEY,
  url         TEXT NOT NULL,
  node        TEXT NOT NULL,            -- that it was assigned to
  priority    REAL NOT NULL,
  depth       INTEGER NOT NULL,
  redirects   INTEGER NOT NULL
);

CREATE TABLE robots (                   -- what each origin's robots.txt said
  origin     TEXT PRIMARY KEY,
  status     TEXT NOT NULL,             -- fetch/robots.py: found, absent, unreachable
  body       BLOB NOT NULL,
  fetched_at REAL NOT NULL,             -- Unix time
  expires_at REAL NOT NULL,
  failures   INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- Pages ----------------------------------------------------------------------------------------

CREATE TABLE page (                     -- every HTML page that was fetched and read, kept or not
  id                INTEGER PRIMARY KEY,
  url_id            INTEGER NOT NULL UNIQUE REFERENCES url(id),
  fingerprint       INTEGER NOT NULL,   -- of the URL: what links of all nodes point to
  url               TEXT NOT NULL,
  domain            TEXT NOT NULL,
  outcome           TEXT NOT NULL,      -- kept, not_relevant, not_indexed, duplicate
  kept              INTEGER NOT NULL,   -- 1: has text and archive record, is in the index
  revision          INTEGER NOT NULL,   -- grows with every write of the node: what sinks go by
  depth             INTEGER NOT NULL,
  title             TEXT NOT NULL,
  description       TEXT NOT NULL,
  language          TEXT NOT NULL,
  published         TEXT,               -- ISO date
  fetched_at        TEXT NOT NULL,      -- ISO time, UTC
  fetch_seconds     REAL NOT NULL,
  body_bytes        INTEGER NOT NULL,
  content_digest    INTEGER NOT NULL,   -- xxh3 of title and text
  keyword_relevance REAL NOT NULL,
  place_relevance   REAL NOT NULL,
  topic             TEXT NOT NULL,      -- names of the topics it is relevant to, one a line
  main_place        INTEGER,            -- place.id
  warc_file         TEXT,
  warc_offset       INTEGER,
  warc_length       INTEGER,
  etag              TEXT,
  last_modified     TEXT
);
CREATE INDEX page_revision ON page (revision);
CREATE INDEX page_digest ON page (content_digest) WHERE kept = 1;

CREATE TABLE page_likeness (            -- near-duplicates: pages of one host in one group have nearly the same text
  page_id  INTEGER PRIMARY KEY REFERENCES page(id),
  likeness INTEGER NOT NULL,            -- frontier/likeness.py
  "group"  INTEGER NOT NULL             -- the likeness of the group's first page
);
CREATE INDEX page_likeness_group ON page_likeness ("group");

CREATE TABLE page_text (                -- kept pages only
  page_id  INTEGER PRIMARY KEY REFERENCES page(id),
  text     BLOB NOT NULL,               -- zstd, UTF-8
  mentions BLOB NOT NULL                -- zstd, JSON: [[start, end, place_id, confidence], ...]; a fifth
                                        -- element is the place before `relocate` chose another
);

CREATE TABLE page_place (               -- the page's footprint
  page_id  INTEGER NOT NULL REFERENCES page(id),
  place_id INTEGER NOT NULL REFERENCES place(id),
  weight   REAL NOT NULL,
  PRIMARY KEY (page_id, place_id)
) WITHOUT ROWID;

CREATE TABLE place (                    -- the gazetteer entries that pages of this node refer to
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  kind       TEXT NOT NULL,
  country    TEXT NOT NULL,
  admin1     TEXT NOT NULL,
  lon        REAL NOT NULL,
  lat        REAL NOT NULL,
  population INTEGER NOT NULL,
  path       TEXT NOT NULL,             -- JSON list of names, world first, the place itself last
  ancestors  TEXT NOT NULL              -- JSON list of ids, world first, without the place itself
);

CREATE TABLE entity (                   -- postal addresses: the geographic entities of paper A
  page_id  INTEGER NOT NULL REFERENCES page(id),
  place_id INTEGER NOT NULL,
  key      TEXT NOT NULL,               -- model.Address.key
  level    TEXT NOT NULL,               -- street or postal
  owner    TEXT                          -- node that owns place_id, if any
);
CREATE INDEX entity_page ON entity (page_id);

CREATE TABLE link (                     -- a page's links, packed: one row a page
  page_id      INTEGER PRIMARY KEY REFERENCES page(id),
  fingerprints BLOB NOT NULL,           -- int64 little-endian, one a link, as in url.fingerprint
  nodes        BLOB NOT NULL,           -- uint16 little-endian, one a link: node_name.id it was assigned to
  steps        BLOB NOT NULL DEFAULT x'', -- uint8, one a link: how much deeper it leads; empty if all are 1
  parts        BLOB NOT NULL DEFAULT x'', -- parts of each link's priority: topics.LinkParts, a byte (255ths) each
  anchors      BLOB NOT NULL DEFAULT x'' -- what each link says, zstd, UTF-8, a line each
);

CREATE TABLE node_name (                -- all nodes of the job, numbered the same way in every database
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);

-- Accounts -------------------------------------------------------------------------------------

CREATE TABLE outcome (                  -- how leases ended; the counts add up to the leases
  name  TEXT PRIMARY KEY,
  count INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE dropped (                  -- URLs that did not join the frontier, by reason
  reason TEXT PRIMARY KEY,
  count  INTEGER NOT NULL
) WITHOUT ROWID;

-- Exchange -------------------------------------------------------------------------------------

CREATE TABLE outbox (                   -- links for other nodes that are not confirmed yet
  sequence    INTEGER PRIMARY KEY AUTOINCREMENT,
  receiver    TEXT NOT NULL,
  url         TEXT NOT NULL,
  priority    REAL NOT NULL,
  depth       INTEGER NOT NULL,
  redirects   INTEGER NOT NULL,
  sitemap     INTEGER NOT NULL DEFAULT 0,
  target      TEXT NOT NULL DEFAULT ''  -- in a cluster: the node it is meant for, if the receiver is only its home
);

CREATE TABLE passed (                   -- in a cluster: URLs whose home this node is and that it let through to others
  fingerprint INTEGER PRIMARY KEY,
  url         TEXT NOT NULL
);

CREATE TABLE inbox (                    -- the last sequence taken from each sender
  sender   TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE traffic (                  -- links exchanged with each peer
  peer      TEXT PRIMARY KEY,
  sent      INTEGER NOT NULL DEFAULT 0,
  received  INTEGER NOT NULL DEFAULT 0,
  duplicate INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
