import { turn } from '../../lib/time/clock.ts';

/**
 * Resolves when only timers are pending. `turns`: how many turns of the event loop must pass without one of something
 * else; messages between ports take one each.
 */
export async function settled(turns: number = 1): Promise<void> {
  for (let quiet = 0; quiet < turns; ) {
    await turn();
    const isBusy = process.getActiveResourcesInfo().some((name) => /^FS|^CloseReq|^Immediate/.test(name));
    quiet = isBusy ? 0 : quiet + 1;
  }
}

/** Advances the time until something is done, or that often. After each step, waits until only timers are pending. */
export async function passUntil(
  something: Promise<unknown>,
  { settled, advance }: { settled: () => Promise<void>; advance: () => void },
  mostSteps: number = Number.POSITIVE_INFINITY,
): Promise<void> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  something.then(done, done);
  await settled();
  for (let steps = 0; steps < mostSteps && !isDone; steps++) {
    advance();
    await settled();
  }
}
