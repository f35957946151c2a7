/** More than clocks that are set by NTP differ. */
const TOLERATED_MS = 5_000;

/** Whether a clock differs so much from that of the database that it is wrong. */
export function isClockWrong(aheadMs: number | null): aheadMs is number {
  return aheadMs !== null && Math.abs(aheadMs) > TOLERATED_MS;
}

/** `612 s ahead of`, `7 s behind` */
export function clockText(aheadMs: number): string {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  return `${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
}

/** A sentence on a wrong clock. */
export function clockWarning(aheadMs: number): string {
  return (
    `The clock of this machine is ${clockText(aheadMs)} that of the database, so times of jobs and signatures of webhooks ` +
    'are wrong. Synchronize both with NTP; with systemd: timedatectl set-ntp true.'
  );
}
