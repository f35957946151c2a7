/** What an operator sets while the service runs, and what lasts through restarts. */
export interface Settings {
  /** Since when no more renders are begun; null when they are. */
  queuePausedAtMs: number | null;
}

export const DEFAULT_SETTINGS: Settings = { queuePausedAtMs: null };

/** Where settings live. Each change is atomic, and durable when its promise resolves; one that fails changes nothing. */
export interface SettingsStore {
  /** The defaults, where nothing was set. */
  getSettings(): Promise<Settings>;
  /** Replaces the settings by what `change` makes of them; it may be called more than once. */
  changeSettings(change: (settings: Settings) => Settings): Promise<Settings>;
}
