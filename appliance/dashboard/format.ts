import type { Quality } from '../../lib/index.ts';
import { QUALITIES } from '../../lib/internal.ts';
import { type Html, html } from './html.ts';
import { texts } from './language/texts.ts';

/** `1,234`. */
export function shownNumber(value: number): string {
  return texts().format.number(value);
}

/** `+5`, `−5`. */
export function shownChange(value: number): string {
  return value < 0 ? `−${shownNumber(-value)}` : `+${shownNumber(value)}`;
}

/** `0.6`: with one digit after the point. */
export function shownDecimal(value: number): string {
  return texts().format.decimal(value);
}

/** `2026-11-23`, of a day or time in ISO 8601. */
export function shownDay(iso: string): string {
  return texts().format.day(iso);
}

/** `2026-11-23 11:30:05 UTC`. */
export function utcText(iso: string): string {
  return texts().format.time(iso);
}

/** A time in UTC, which the script of all pages shows in the reader's zone, with UTC on hover. */
export function shownTime(iso: string | null): Html {
  if (iso === null) return html`<span class="faint">–</span>`;
  return html`<time datetime="${iso}" title="${iso}">${utcText(iso)}</time>`;
}

/** `0.6 s`, `12 s`, `3 min 20 s`, `10 min`. */
export function shownDuration(ms: number | null): string {
  if (ms === null) return '–';
  if (ms < 9_950) return `${shownDecimal(ms / 1000)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = `${Math.floor(seconds / 60)} min`;
  return seconds % 60 === 0 ? minutes : `${minutes} ${seconds % 60} s`;
}

/** Of a video: `0:07`, `12:30`, `1:02:03`. */
export function shownLength(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  const rest = two(whole % 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** `812 B`, `1.4 MB`, `3.2 TB`. */
export function shownSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let size = bytes / 1000;
  for (const unit of ['kB', 'MB', 'GB']) {
    if (size < 999.95) return `${shownDecimal(size)} ${unit}`;
    size /= 1000;
  }
  return `${shownDecimal(size)} TB`;
}

/** `1.2 GB of 53.7 GB`. */
export function shownUse({ bytes, mostBytes }: { bytes: number | null; mostBytes: number | null }): string {
  const { format } = texts();
  const used = bytes === null ? format.unknown : shownSize(bytes);
  return mostBytes === null ? used : format.use(used, shownSize(mostBytes));
}

/** `High`, `2K`. */
export function shownQuality(quality: string): string {
  const names: Partial<Record<string, string>> = texts().format.qualities;
  return (
    names[quality] ?? (Object.hasOwn(QUALITIES, quality) ? QUALITIES[quality as Quality].label : quality)
  );
}
