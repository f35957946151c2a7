/** What a key may be used for, as JSON, and until when; NULL: everything, forever. */
export const KEY_LIMITS: string = `
ALTER TABLE api_keys ADD COLUMN scopes TEXT;
ALTER TABLE api_keys ADD COLUMN expires_at_ms INTEGER;
`;
