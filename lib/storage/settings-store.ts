/** Settings that an operator changes at run time; they survive restarts. */
export interface Settings {
  /** When the queue was paused, in epoch milliseconds; null when it is not paused. */
  queuePausedAtMs: number | null;
}

/** The settings of a new service: its queue is not paused. */
export const DEFAULT_SETTINGS: Settings = { queuePausedAtMs: null };

/**
 * The store of settings. Changes are atomic, and durable when their promise resolves; a failed change has no effect.
 */
export interface SettingsStore {
  /** Returns the defaults for settings that were never changed. */
  getSettings(): Promise<Settings>;
  /** Replaces the settings by the result of `change`, which may be called more than once. */
  changeSettings(change: (settings: Settings) => Settings): Promise<Settings>;
}
