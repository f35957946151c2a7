import { turn } from '../../lib/clock.ts';

/** Resolves when nothing goes on any more but what waits for the clock. */
export async function settled(): Promise<void> {
  do await turn();
  while (process.getActiveResourcesInfo().some((name) => /^FS|^FileHandle|^Immediate/.test(name)));
}
