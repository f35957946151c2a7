/** Modification time of all files in the root: 1 January 2026. */
export const EPOCH_SECONDS: number = 1_767_225_600;
