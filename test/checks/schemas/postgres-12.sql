
ALTER TABLE accounts ADD COLUMN totp_secret_sealed text COLLATE "C";
ALTER TABLE accounts ADD COLUMN totp_step bigint CHECK ((totp_step IS NULL) = (totp_secret_sealed IS NULL));
ALTER TABLE accounts ADD COLUMN recovery_hashes text COLLATE "C"
  CHECK ((recovery_hashes IS NULL) = (totp_secret_sealed IS NULL));

ALTER TABLE sessions ADD COLUMN browser text COLLATE "C";
ALTER TABLE sessions ADD COLUMN address text COLLATE "C";
