/**
 * A behaviour that every implementation of an interface must have. Runner-free: hand each to the runner of your choice.
 *
 * ```ts
 * for (const { title, run } of storageSuite(open)) test(title, run);
 * ```
 */
export interface Behaviour {
  title: string;
  /** Rejects where the implementation doesn't behave so. */
  run: () => Promise<void>;
}

/** What a suite opens anew for each behaviour: empty, started, and closed by `close`. */
export interface Opened<T> {
  subject: T;
  close: () => Promise<void>;
}

/** Makes behaviours of functions that take an opened subject. */
export function behaviours<T>(
  open: () => Promise<Opened<T>>,
  table: Record<string, (subject: T) => Promise<void>>,
): Behaviour[] {
  return Object.entries(table).map(([title, check]) => ({
    title,
    async run() {
      const { subject, close } = await open();
      try {
        await check(subject);
      } finally {
        await close();
      }
    },
  }));
}
