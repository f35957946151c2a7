/** When a key was last used. */
export interface KeyUse {
  /** The key that was used. */
  keyId: string;
  /** Epoch milliseconds. */
  usedAtMs: number;
}

/** The store of the last use of each key. */
export interface KeyUseStore {
  /** Adds or replaces uses; an earlier use never replaces a later one. */
  noteKeyUses(uses: KeyUse[]): Promise<void>;
  /** The uses of those keys that were used, in any order. */
  lastKeyUses(keyIds: string[]): Promise<KeyUse[]>;
}
