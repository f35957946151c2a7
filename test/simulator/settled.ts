import { turn } from '../../lib/clock.ts';

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
