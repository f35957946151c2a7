/** The process that currently holds each exclusive task. */
export const LEADERS = `
CREATE TABLE leaders (
  task text PRIMARY KEY,
  holder text NOT NULL,
  lapses_at timestamptz NOT NULL
);
`;

/** Returns a row for the process that leads. */
export const LEAD = `INSERT INTO leaders VALUES (?, ?, now() + ? * interval '1 millisecond')
  ON CONFLICT (task) DO UPDATE SET holder = excluded.holder, lapses_at = excluded.lapses_at
  WHERE leaders.holder = excluded.holder OR leaders.lapses_at <= now() RETURNING task`;
