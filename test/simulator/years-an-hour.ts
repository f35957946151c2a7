const HOURS_A_YEAR = 8766;
const HOUR_MS = 3_600_000;

/** How much faster than time a simulation of so many hours was, in words. */
export function yearsAnHour(hours: number, sinceMs: number): string {
  const years = hours / HOURS_A_YEAR / ((performance.now() - sinceMs) / HOUR_MS);
  return `${years.toPrecision(2)} simulated years an hour`;
}
