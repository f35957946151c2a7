import type { Texts } from '../en/index.ts';

const NUMBER = new Intl.NumberFormat('de');
const DECIMAL = new Intl.NumberFormat('de', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const DAY = new Intl.DateTimeFormat('de', { dateStyle: 'medium', timeZone: 'UTC' });
const TIME = new Intl.DateTimeFormat('de', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });

export const format: Texts['format'] = {
  number: (value) => NUMBER.format(value),
  decimal: (value) => DECIMAL.format(value),
  day: (iso) => DAY.format(new Date(iso)),
  time: (iso) => `${TIME.format(new Date(iso))} UTC`,
  unknown: 'unbekannt',
  use: (used, most) => `${used} von ${most}`,
  qualities: { low: 'Niedrig', medium: 'Mittel', high: 'Hoch', twok: '2K', fourk: '4K' },
};

/** `1 Auftrag`, `3 Aufträge`. */
export function counted(count: number, one: string, several: string): string {
  return `${NUMBER.format(count)} ${count === 1 ? one : several}`;
}
