/**
 * Signals this close together are one: Ctrl-C goes to every program of a terminal, and npm sends it on to the program
 * that it runs, which gets it twice within milliseconds.
 */
const SAME_WITHIN_MS = 1_000;
const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

/** The order to stop, given by a signal. */
export interface StopSignal {
  /** Resolves with the first signal. */
  told: Promise<NodeJS.Signals>;
  /** Aborted by it. */
  aborted: AbortSignal;
}

/** Waits for SIGINT or SIGTERM; a second one, more than a second later, ends the process where it stands. */
export function awaitStopSignal(): StopSignal {
  const { promise: told, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const controller = new AbortController();
  let firstMs: number | undefined;
  for (const [signal, number] of Object.entries(NUMBERS) as [NodeJS.Signals, number][]) {
    process.on(signal, () => {
      const nowMs = performance.now();
      if (firstMs !== undefined && nowMs - firstMs > SAME_WITHIN_MS) process.exit(128 + number);
      firstMs ??= nowMs;
      resolve(signal);
      controller.abort();
    });
  }
  return { told, aborted: controller.signal };
}
