/**
 * A test of behavior that every implementation of an interface must have. Independent of test runners:
 *
 * ```ts
 * for (const { title, run } of storageSuite(open)) test(title, run);
 * ```
 */
export interface Behaviour {
  /** For the title of a test. */
  title: string;
  /** Rejects when the implementation does not behave so. */
  run: () => Promise<void>;
}

/** The implementation under test, opened for each behavior: empty, started, and closed by `close`. */
export interface Opened<T> {
  /** What is tested. */
  subject: T;
  /** Called after each behavior. */
  close: () => Promise<void>;
}

/** Creates behaviors from functions that take an opened subject. */
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
