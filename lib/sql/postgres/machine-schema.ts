import { TEXT } from './refusals.ts';

/**
 * What machines are compared by, and whether they may work. `machines` is logged from then on: a confirmed request to
 * drain, and what the machines have agreed on, survive a crash of the server and a failover.
 */
export const MACHINE_SCHEMA: string = `
ALTER TABLE machines SET LOGGED;
ALTER TABLE machines
  ADD COLUMN settings ${TEXT},
  ADD COLUMN limits ${TEXT},
  ADD COLUMN clock_ahead_ms bigint,
  ADD COLUMN works boolean NOT NULL DEFAULT true;
`;
