/**
 * Signals within this time count as one: the terminal sends Ctrl-C to the whole foreground process group, and npm
 * forwards it to its child, which so receives it twice within milliseconds.
 */
const SAME_WITHIN_MS = 1_000;
const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

/** A stop requested by a signal. */
export interface StopSignal {
  /** Resolves with the first signal. */
  received: Promise<NodeJS.Signals>;
  /** Aborted by the first signal. */
  aborted: AbortSignal;
}

/** Waits for SIGINT or SIGTERM; a second signal, more than a second later, exits the process immediately. */
export function awaitStopSignal(): StopSignal {
  const { promise: received, resolve } = Promise.withResolvers<NodeJS.Signals>();
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
  return { received, aborted: controller.signal };
}
