const NUMBER = new Intl.NumberFormat('en-GB');

/** Numbers, times and what they count. */
export const format = {
  /** `1,234`. */
  number: (value: number): string => NUMBER.format(value),
  /** `0.6`. */
  decimal: (value: number): string => value.toFixed(1),
  /** `2026-11-23`, of a time or day in ISO 8601. */
  day: (iso: string): string => iso.slice(0, 10),
  /** `2026-11-23 11:30:05 UTC`. */
  time: (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`,
  unknown: 'unknown',
  use: (used: string, most: string): string => `${used} of ${most}`,
  qualities: { low: 'Low', medium: 'Medium', high: 'High', twok: '2K', fourk: '4K' },
};

/** `1 job`, `3 jobs`. */
export function counted(count: number, one: string, several: string = `${one}s`): string {
  return `${NUMBER.format(count)} ${count === 1 ? one : several}`;
}
