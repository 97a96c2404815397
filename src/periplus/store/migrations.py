"""How databases of older releases become those of this one: statements that `database.py` runs in one transaction.

What stands here is history and is not changed any more: each step leads from one released schema to the next one.
"""

__all__ = ["MIGRATIONS"]

VIEW_OF_8 = """
CREATE VIEW known_url AS
SELECT url.id, url.fingerprint, url.url, url.host_id, ifnull(progress.state, 0) AS state, progress.outcome,
       ifnull(progress.priority, url.priority) AS priority, url.depth, url.redirects, url.sitemap,
       ifnull(progress.attempts, 0) AS attempts, ifnull(progress.not_before, 0.0) AS not_before, progress.redirect,
       ifnull(progress.visits, 0) AS visits, ifnull(progress.visited_at, 0.0) AS visited_at,
       ifnull(progress.revisit_seconds, 0.0) AS revisit_seconds
FROM url LEFT JOIN progress ON progress.id = url.id"""

TRIGGERS_OF_8 = (
    """
CREATE TRIGGER url_is_queued AFTER INSERT ON url BEGIN
  INSERT INTO queue VALUES (new.host_id, new.priority, new.id);
END""",
    """
CREATE TRIGGER url_is_spent AFTER INSERT ON progress WHEN new.state <> 0 BEGIN
  INSERT INTO spent (host_id, priority, id) SELECT host_id, priority, id FROM url WHERE id = new.id;
END""",
    """
CREATE TRIGGER url_is_spent_later AFTER UPDATE OF state ON progress WHEN old.state = 0 AND new.state <> 0 BEGIN
  INSERT INTO spent (host_id, priority, id)
  SELECT host_id, ifnull(old.priority, priority), id FROM url WHERE id = new.id;
END""",
    """
CREATE TRIGGER url_is_revalued AFTER INSERT ON progress WHEN new.state = 0 AND new.priority IS NOT NULL BEGIN
  DELETE FROM queue WHERE (host_id, priority, id) IN (SELECT host_id, priority, id FROM url WHERE id = new.id);
  INSERT OR IGNORE INTO queue SELECT host_id, new.priority, id FROM url WHERE id = new.id;
END""",
    """
CREATE TRIGGER url_is_revalued_later AFTER UPDATE OF priority ON progress
WHEN old.state = 0 AND new.state = 0 AND old.priority IS NOT new.priority BEGIN
  DELETE FROM queue
  WHERE (host_id, priority, id) IN (SELECT host_id, ifnull(old.priority, priority), id FROM url WHERE id = new.id);
  INSERT OR IGNORE INTO queue SELECT host_id, ifnull(new.priority, priority), id FROM url WHERE id = new.id;
END""",
    """
CREATE TRIGGER url_is_queued_again AFTER UPDATE OF state ON progress WHEN old.state <> 0 AND new.state = 0 BEGIN
  DELETE FROM queue WHERE (host_id, priority, id) IN (SELECT host_id, priority, id FROM spent WHERE id = new.id);
  DELETE FROM spent WHERE id = new.id;
  INSERT OR IGNORE INTO queue SELECT host_id, ifnull(new.priority, priority), id FROM url WHERE id = new.id;
END""",
    """
CREATE TRIGGER url_is_as_it_joined AFTER DELETE ON progress BEGIN
  DELETE FROM queue WHERE (host_id, priority, id) IN (SELECT host_id, priority, id FROM spent WHERE id = old.id);
  DELETE FROM spent WHERE id = old.id;
  DELETE FROM queue
  WHERE (host_id, priority, id) IN (SELECT host_id, ifnull(old.priority, priority), id FROM url WHERE id = old.id);
  INSERT OR IGNORE INTO queue SELECT host_id, priority, id FROM url WHERE id = old.id;
END""",
    """
CREATE TRIGGER url_waits AFTER INSERT ON progress WHEN new.state = 2 AND new.fingerprint IS NULL BEGIN
  UPDATE progress SET fingerprint = (SELECT fingerprint FROM url WHERE id = new.id) WHERE id = new.id;
END""",
    """
CREATE TRIGGER url_waits_later AFTER UPDATE OF state ON progress WHEN new.state = 2 AND new.fingerprint IS NULL BEGIN
  UPDATE progress SET fingerprint = (SELECT fingerprint FROM url WHERE id = new.id) WHERE id = new.id;
END""",
)

ENDINGS_OF_9 = (
    """
CREATE TRIGGER url_is_spent AFTER INSERT ON progress
WHEN new.state <> 0 AND (new.host_id IS NULL OR new.priority IS NULL) BEGIN
  INSERT INTO spent (host_id, priority, id) SELECT host_id, priority, id FROM url WHERE id = new.id;
END""",
    """
CREATE TRIGGER url_is_spent_from AFTER INSERT ON progress
WHEN new.state <> 0 AND new.host_id IS NOT NULL AND new.priority IS NOT NULL BEGIN
  INSERT INTO spent (host_id, priority, id) VALUES (new.host_id, new.priority, new.id);
END""",
    """
CREATE TRIGGER url_is_spent_later_from AFTER UPDATE OF state ON progress
WHEN old.state = 0 AND new.state <> 0 AND old.host_id IS NOT NULL AND old.priority IS NOT NULL BEGIN
  INSERT INTO spent (host_id, priority, id) VALUES (old.host_id, old.priority, old.id);
END""",
    """
CREATE TRIGGER url_is_spent_later AFTER UPDATE OF state ON progress
WHEN old.state = 0 AND new.state <> 0 AND (old.host_id IS NULL OR old.priority IS NULL) BEGIN
  INSERT INTO spent (host_id, priority, id)
  SELECT host_id, ifnull(old.priority, priority), id FROM url WHERE id = new.id;
END""",
)

MIGRATIONS: dict[int, tuple[str, ...]] = {
    6: (  # the queue becomes a table of its own, from which URLs that have ended are taken many at once
        "DROP INDEX url_queue",
        "CREATE TABLE queue (host_id INTEGER NOT NULL, priority REAL NOT NULL, id INTEGER NOT NULL, "
        "PRIMARY KEY (host_id, priority DESC, id)) WITHOUT ROWID",
        "CREATE TABLE spent "
        "(sequence INTEGER PRIMARY KEY, host_id INTEGER NOT NULL, priority REAL NOT NULL, id INTEGER NOT NULL)",
        "CREATE TRIGGER url_is_queued AFTER INSERT ON url WHEN new.state = 0 BEGIN "
        "INSERT INTO queue VALUES (new.host_id, new.priority, new.id); END",
        "CREATE TRIGGER url_is_spent AFTER UPDATE OF state ON url WHEN old.state = 0 AND new.state <> 0 BEGIN "
        "INSERT INTO spent (host_id, priority, id) VALUES (old.host_id, old.priority, old.id); END",
        "CREATE TRIGGER url_is_queued_again AFTER UPDATE OF state ON url WHEN old.state <> 0 AND new.state = 0 BEGIN "
        "DELETE FROM spent WHERE id = new.id; "
        "INSERT OR IGNORE INTO queue VALUES (new.host_id, new.priority, new.id); END",
        "CREATE TRIGGER url_is_revalued AFTER UPDATE OF priority ON url "
        "WHEN old.state = 0 AND new.state = 0 AND old.priority <> new.priority BEGIN "
        "DELETE FROM queue WHERE host_id = old.host_id AND priority = old.priority AND id = old.id; "
        "INSERT INTO queue VALUES (new.host_id, new.priority, new.id); END",
        "INSERT INTO queue SELECT host_id, priority, id FROM url WHERE state = 0",
    ),
    7: (  # a URL's row is written once; what happens to it has a table of its own
        """CREATE TABLE progress (
          id          INTEGER PRIMARY KEY,
          state       INTEGER NOT NULL DEFAULT 0,
          outcome     TEXT,
          priority    REAL,
          attempts    INTEGER NOT NULL DEFAULT 0,
          not_before  REAL NOT NULL DEFAULT 0,
          redirect    INTEGER,
          visits      INTEGER NOT NULL DEFAULT 0,
          visited_at  REAL NOT NULL DEFAULT 0,
          revisit_seconds REAL NOT NULL DEFAULT 0,
          fingerprint INTEGER
        )""",
        """INSERT INTO progress
        SELECT id, state, outcome, NULL, attempts, not_before, redirect, visits, visited_at, revisit_seconds,
               CASE WHEN state = 2 THEN fingerprint END
        FROM url
        WHERE state <> 0 OR outcome IS NOT NULL OR attempts <> 0 OR not_before <> 0 OR redirect IS NOT NULL
           OR visits <> 0 OR visited_at <> 0 OR revisit_seconds <> 0""",
        "CREATE INDEX progress_due ON progress (not_before) WHERE state = 2",
        "CREATE INDEX progress_waiting ON progress (fingerprint) WHERE state = 2",
        """CREATE TABLE joined_url (
          id          INTEGER PRIMARY KEY,
          fingerprint INTEGER NOT NULL,
          url         TEXT NOT NULL,
          host_id     INTEGER NOT NULL REFERENCES host(id),
          priority    REAL NOT NULL,
          depth       INTEGER NOT NULL,
          redirects   INTEGER NOT NULL DEFAULT 0,
          sitemap     INTEGER NOT NULL DEFAULT 0
        )""",
        "INSERT INTO joined_url SELECT id, fingerprint, url, host_id, priority, depth, redirects, sitemap FROM url",
        "DROP TABLE url",  # with its indexes and triggers
        "ALTER TABLE joined_url RENAME TO url",
        VIEW_OF_8,
        *TRIGGERS_OF_8,
    ),
    8: (  # whoever ends a URL may say where it was queued, which spares a look at the URL's own row
        "ALTER TABLE progress ADD COLUMN host_id INTEGER",
        "DROP TRIGGER url_is_spent",
        "DROP TRIGGER url_is_spent_later",
        *ENDINGS_OF_9,
    ),
}
"""Statements that lead from a released version to the next one; 6 is the first that was released."""
