import { readFileSync, writeFileSync } from 'node:fs';

const SCORE_FILE = '/proc/self/oom_score_adj';
/** From -1000, never ended, to 1000. The renderer gives itself 500 and a scene 1000 (`priority.py`). */
const SERVICE_SCORE = -500;

/**
 * When the machine runs out of memory, the kernel ends the renderer and its scenes rather than the service. Only root
 * may lower a score; what was set by others, as systemd's `OOMScoreAdjust=` does, stays.
 */
export function outliveTheRenderer(): void {
  try {
    if (Number(readFileSync(SCORE_FILE, 'utf8')) === 0) writeFileSync(SCORE_FILE, String(SERVICE_SCORE));
  } catch {
    // An ordinary user's service stays at 0, which is below the renderer's.
  }
}
