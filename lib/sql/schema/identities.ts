/** The person, at an issuer of access tokens, whose tokens act for an account; NULL without a link. */
export const IDENTITIES: string = `
ALTER TABLE accounts ADD COLUMN issuer TEXT;
ALTER TABLE accounts ADD COLUMN subject TEXT CHECK ((subject IS NULL) = (issuer IS NULL));
CREATE UNIQUE INDEX one_account_of_identity ON accounts (issuer, subject);
`;
