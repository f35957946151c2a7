import { turn } from '../../lib/clock.ts';

/** Resolves when only timers are pending. */
export async function settled(): Promise<void> {
  do await turn();
  while (process.getActiveResourcesInfo().some((name) => /^FS|^FileHandle|^Immediate/.test(name)));
}
