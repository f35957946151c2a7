/** The second factor of an account; NULL without one. `totp_step`: the latest time step whose code was accepted. */
export const TWO_FACTOR: string = `
ALTER TABLE accounts ADD COLUMN totp_secret_sealed TEXT;
ALTER TABLE accounts ADD COLUMN totp_step INTEGER CHECK ((totp_step IS NULL) = (totp_secret_sealed IS NULL));
ALTER TABLE accounts ADD COLUMN recovery_hashes TEXT
  CHECK ((recovery_hashes IS NULL) = (totp_secret_sealed IS NULL));
`;

/** Where sessions began: the kind of browser, and the client's address; NULL: not known. */
export const SESSION_ORIGINS: string = `
ALTER TABLE sessions ADD COLUMN browser TEXT;
ALTER TABLE sessions ADD COLUMN address TEXT;
`;
