/** From this many interruptions on a job may be what brings the service down. One can happen to any job. */
const SUSPECT_FROM = 2;
const HOLD_FIRST_MS = 2_000;
/** No suspect waits longer: a time that is further away was written by a clock that went wrong. */
export const LONGEST_HOLD_MS = 300_000;

/** Whether a job that was interrupted so often runs alone among those. */
export function isSuspect({ interruptions }: { interruptions: number }): boolean {
  return interruptions >= SUSPECT_FROM;
}

/** When a job that waits again may begin; undefined: with the others. */
export function heldUntilMs(interruptions: number, nowMs: number): number | undefined {
  if (!isSuspect({ interruptions })) return undefined;
  return nowMs + Math.min(HOLD_FIRST_MS * 2 ** (interruptions - SUSPECT_FROM), LONGEST_HOLD_MS);
}
