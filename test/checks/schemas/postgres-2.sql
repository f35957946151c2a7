
CREATE TABLE installation (
  row_id bigint PRIMARY KEY CHECK (row_id = 1),
  installation_id text COLLATE "C" NOT NULL,
  place text COLLATE "C" NOT NULL,
  stamp bigint NOT NULL
);
