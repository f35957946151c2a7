import type { Quality } from '../../lib/index.ts';
import { QUALITIES } from '../../lib/internal.ts';
import { type Html, html } from './html.ts';

const NUMBER = new Intl.NumberFormat('en-GB');

/** `1,234`. */
export function shownNumber(value: number): string {
  return NUMBER.format(value);
}

/** `+5`, `−5`. */
export function shownChange(value: number): string {
  return value < 0 ? `−${NUMBER.format(-value)}` : `+${NUMBER.format(value)}`;
}

/** `2026-11-23 11:30:05 UTC`. */
export function utcText(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** A time in UTC, which the script of all pages shows in the reader's zone, with UTC on hover. */
export function shownTime(iso: string | null): Html {
  if (iso === null) return html`<span class="faint">–</span>`;
  return html`<time datetime="${iso}" title="${iso}">${utcText(iso)}</time>`;
}

/** `0.6 s`, `12 s`, `3 min 20 s`, `10 min`. */
export function shownDuration(ms: number | null): string {
  if (ms === null) return '–';
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = `${Math.floor(seconds / 60)} min`;
  return seconds % 60 === 0 ? minutes : `${minutes} ${seconds % 60} s`;
}

/** `812 B`, `1.4 MB`, `3.2 TB`. */
export function shownSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let size = bytes / 1000;
  for (const unit of ['kB', 'MB', 'GB']) {
    if (size < 999.95) return `${size.toFixed(1)} ${unit}`;
    size /= 1000;
  }
  return `${size.toFixed(1)} TB`;
}

/** `1.2 GB of 53.7 GB`. */
export function shownUse({ bytes, mostBytes }: { bytes: number | null; mostBytes: number | null }): string {
  const used = bytes === null ? 'unknown' : shownSize(bytes);
  return mostBytes === null ? used : `${used} of ${shownSize(mostBytes)}`;
}

/** `High`, `2K`. */
export function shownQuality(quality: string): string {
  return Object.hasOwn(QUALITIES, quality) ? QUALITIES[quality as Quality].label : quality;
}

/** `1 job`, `3 jobs`. */
export function counted(count: number, what: string): string {
  return `${shownNumber(count)} ${what}${count === 1 ? '' : 's'}`;
}
