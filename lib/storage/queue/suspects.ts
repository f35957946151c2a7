/** Interruptions that make a job a suspect. One can happen to any job. */
const SUSPECT_FROM = 2;
const HOLD_FIRST_MS = 2_000;
/** The longest delay of a suspect; a later time was written while the clock was wrong. */
export const LONGEST_HOLD_MS = 300_000;

/** Whether a job is a suspect. */
export function isSuspect({ interruptions }: { interruptions: number }): boolean {
  return interruptions >= SUSPECT_FROM;
}

/** The earliest start of a requeued job; undefined: not delayed. */
export function heldUntilMs(interruptions: number, nowMs: number): number | undefined {
  if (!isSuspect({ interruptions })) return undefined;
  return nowMs + Math.min(HOLD_FIRST_MS * 2 ** (interruptions - SUSPECT_FROM), LONGEST_HOLD_MS);
}
