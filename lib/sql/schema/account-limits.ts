/** How many MiB the files of an account may take; NULL: as many as those of any account. */
export const ACCOUNT_LIMITS: string = `
ALTER TABLE accounts ADD COLUMN max_files_mb INTEGER CHECK (max_files_mb >= 1);
`;
