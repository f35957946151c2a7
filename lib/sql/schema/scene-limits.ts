/** How many scenes an account may have; NULL: as many as any account. */
export const SCENE_LIMITS: string = `
ALTER TABLE accounts ADD COLUMN max_scenes INTEGER CHECK (max_scenes >= 1);
`;
