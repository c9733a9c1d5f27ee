/** The tables of `outbound.db`. */

/** What `user_version` says: a file of a later version is not touched. */
export const SCHEMA_VERSION = 1;

/** Where a row stands; 1 stands behind another of its session and is not taken. */
export const STATE = { ready: 0, behind: 1, dead: 2 } as const;

/**
 * The integer key makes inserting cheap, and so do ids that grow with time: their index appends.
 * Counts are kept by target, since counting a million rows is not.
 */
export const SCHEMA = `
CREATE TABLE target (
  t INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  waiting INTEGER NOT NULL DEFAULT 0,
  dead INTEGER NOT NULL DEFAULT 0,
  disabled_since TEXT,
  disabled_reason TEXT,
  paused_until TEXT,
  paused_reason TEXT
) STRICT;
CREATE TABLE delivery (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  t INTEGER NOT NULL,
  event TEXT NOT NULL,
  session TEXT,
  wire TEXT NOT NULL,
  occurred_at TEXT NOT NULL,
  fired INTEGER NOT NULL,
  ages_from INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  state INTEGER NOT NULL DEFAULT 0,
  due INTEGER NOT NULL,
  ordered TEXT,
  error TEXT,
  status INTEGER
) STRICT;
CREATE UNIQUE INDEX delivery_id ON delivery (id);
CREATE INDEX delivery_due ON delivery (t, due, n) WHERE state = 0;
CREATE INDEX delivery_ordered ON delivery (t, ordered, n) WHERE ordered IS NOT NULL AND state < 2;
CREATE INDEX delivery_age ON delivery (t, ages_from, n) WHERE state < 2;
CREATE INDEX delivery_dead ON delivery (n, due) WHERE state = 2;
PRAGMA user_version = ${SCHEMA_VERSION};
`;
