-- The book of tasks: tasks.db in the folder of tasks. SQLite, WAL; commands, the web page and the service write it.

CREATE TABLE task (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  name     TEXT NOT NULL UNIQUE,
  job      TEXT NOT NULL,               -- JSON of settings.Job
  folder   TEXT NOT NULL,               -- of its crawl
  schedule TEXT NOT NULL,               -- schedule.py; empty: by hand
  zone     TEXT NOT NULL,
  created  REAL NOT NULL,               -- Unix time, as all times here
  next_at  REAL,                        -- when it is due; NULL: by hand, or held
  held     INTEGER NOT NULL DEFAULT 0,  -- 1: paused by a person, so not started by its schedule
  wish     TEXT NOT NULL DEFAULT ''     -- what a person wants of the service: start, pause, resume, stop, remove, erase
);

CREATE TABLE run (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id     INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,
  cause       TEXT NOT NULL,            -- hand, schedule, missed
  state       TEXT NOT NULL,            -- records.py
  began       REAL NOT NULL,            -- when it was wanted
  started     REAL,                     -- when its first process began
  ended       REAL,
  pid         INTEGER,                  -- of the running process, which leads its own group
  pid_born    INTEGER,                  -- its start in the kernel's ticks: a pid alone may be somebody else's by now
  page_limit  INTEGER NOT NULL,         -- pages of the crawl at which this run ends; 0: none
  reason      TEXT NOT NULL DEFAULT '', -- why it ended
  pages       INTEGER NOT NULL DEFAULT 0,
  kept        INTEGER NOT NULL DEFAULT 0,
  queued      INTEGER NOT NULL DEFAULT 0,
  new         INTEGER NOT NULL DEFAULT 0,
  changed     INTEGER NOT NULL DEFAULT 0,
  gone        INTEGER NOT NULL DEFAULT 0,
  tries       INTEGER NOT NULL DEFAULT 0 -- processes that were begun for it
);
CREATE INDEX run_task ON run (task_id, id);
CREATE UNIQUE INDEX run_open ON run (task_id) WHERE ended IS NULL;

CREATE TABLE question (                 -- saved questions that alert
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,
  text    TEXT NOT NULL,
  webhook TEXT NOT NULL,                -- empty: none
  created REAL NOT NULL,
  asked   REAL,                         -- when it was last asked; NULL: never, so all hits are old
  trouble TEXT NOT NULL DEFAULT ''      -- why the webhook was not reached
);

CREATE TABLE hit (                      -- what a question has found
  question_id INTEGER NOT NULL REFERENCES question(id) ON DELETE CASCADE,
  url         TEXT NOT NULL,
  title       TEXT NOT NULL,
  snippet     TEXT NOT NULL,
  place       TEXT NOT NULL,
  found       REAL NOT NULL,
  fresh       INTEGER NOT NULL,         -- 1: new since the question was saved: it is in the feeds
  told        INTEGER NOT NULL,         -- 1: the webhook knows it
  PRIMARY KEY (question_id, url)
) WITHOUT ROWID;
CREATE INDEX hit_fresh ON hit (question_id, found DESC) WHERE fresh = 1;
