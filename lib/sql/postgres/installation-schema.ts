import { TEXT } from './refusals.ts';

/** Which installation the data belongs to, once it has claimed an asset store: `InstallationRecord`. */
export const INSTALLATION_SCHEMA: string = `
CREATE TABLE installation (
  row_id bigint PRIMARY KEY CHECK (row_id = 1),
  installation_id ${TEXT} NOT NULL,
  place ${TEXT} NOT NULL,
  stamp bigint NOT NULL
);
`;
