-- What `periplus export --to postgis://…` keeps up to date. One schema, any number of crawls.
-- Everything is keyed by crawl (name of its folder), node and page, so that a page that changed is replaced.

CREATE TABLE IF NOT EXISTS places (          -- gazetteer entries that pages refer to
  id         bigint PRIMARY KEY,             -- GeoNames id where there is one
  name       text NOT NULL,
  kind       text NOT NULL,
  country    text NOT NULL,
  admin1     text NOT NULL,
  population bigint NOT NULL,
  path       text[] NOT NULL,                -- from the world down to the place itself
  geom       geometry(Point, 4326) NOT NULL
);

CREATE TABLE IF NOT EXISTS pages (           -- kept pages
  crawl             text NOT NULL,
  node              text NOT NULL,
  page              bigint NOT NULL,
  fingerprint       bigint NOT NULL,         -- of the URL: what links point to
  revision          bigint NOT NULL,
  url               text NOT NULL,
  title             text NOT NULL,
  description       text NOT NULL,
  language          text NOT NULL,
  published         date,
  fetched           timestamptz NOT NULL,
  topics            text[] NOT NULL,
  keyword_relevance double precision NOT NULL,
  place_relevance   double precision NOT NULL,
  depth             integer NOT NULL,
  place_id          bigint,                  -- main place
  body              text NOT NULL,
  words             tsvector NOT NULL,       -- title A, description B, body C
  geom              geometry(Point, 4326),   -- of the main place
  PRIMARY KEY (crawl, node, page)
);

CREATE TABLE IF NOT EXISTS page_places (     -- a page's footprint: all its places with their weights
  crawl    text NOT NULL,
  node     text NOT NULL,
  page     bigint NOT NULL,
  place_id bigint NOT NULL,
  weight   double precision NOT NULL,
  PRIMARY KEY (crawl, node, page, place_id)
);

CREATE TABLE IF NOT EXISTS mentions (        -- place names in a page's text
  crawl      text NOT NULL,
  node       text NOT NULL,
  page       bigint NOT NULL,
  start_at   integer NOT NULL,               -- characters of body
  end_at     integer NOT NULL,
  name       text NOT NULL,                  -- as the page writes it
  place_id   bigint NOT NULL,
  confidence double precision NOT NULL,
  geom       geometry(Point, 4326)
);

CREATE TABLE IF NOT EXISTS links (           -- links of kept pages
  crawl   text NOT NULL,
  node    text NOT NULL,
  page    bigint NOT NULL,
  target  bigint NOT NULL,                   -- fingerprint of the URL it leads to
  anchor  text NOT NULL,
  geom    geometry(LineString, 4326)         -- from the page's place to that of the page it leads to, if both are known
);

CREATE TABLE IF NOT EXISTS sink (            -- how far each node has been read, written together with the rows
  crawl    text NOT NULL,
  node     text NOT NULL,
  revision bigint NOT NULL,
  page     bigint NOT NULL,
  PRIMARY KEY (crawl, node)
);

CREATE INDEX IF NOT EXISTS places_geom ON places USING gist (geom);
CREATE INDEX IF NOT EXISTS pages_geom ON pages USING gist (geom);
CREATE INDEX IF NOT EXISTS pages_words ON pages USING gin (words);
CREATE INDEX IF NOT EXISTS pages_topics ON pages USING gin (topics);
CREATE INDEX IF NOT EXISTS pages_published ON pages (published);
CREATE INDEX IF NOT EXISTS pages_fingerprint ON pages (crawl, fingerprint);
CREATE INDEX IF NOT EXISTS page_places_place ON page_places (place_id);
CREATE INDEX IF NOT EXISTS mentions_page ON mentions (crawl, node, page);
CREATE INDEX IF NOT EXISTS mentions_geom ON mentions USING gist (geom);
CREATE INDEX IF NOT EXISTS links_page ON links (crawl, node, page);
CREATE INDEX IF NOT EXISTS links_target ON links (crawl, target);
CREATE INDEX IF NOT EXISTS links_geom ON links USING gist (geom);
