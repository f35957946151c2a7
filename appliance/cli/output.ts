/** One JSON document on standard output, for scripts. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a table; each column is as wide as its widest cell. An empty cell is shown as `-`. */
export function printTable(headings: string[], rows: string[][]): void {
  const lines = [headings, ...rows.map((row) => row.map((cell) => printable(cell) || '-'))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines) {
    print(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}

/** Prints one line per label; labels without a value are omitted. */
export function printDetails(details: [label: string, value: string | null | undefined][]): void {
  const shown = details.filter((detail): detail is [string, string] => Boolean(detail[1]));
  const width = Math.max(...shown.map(([label]) => label.length));
  for (const [label, value] of shown) {
    const indent = `\n${' '.repeat(width + 2)}`;
    print(`${label.padEnd(width)}  ${printable(value).replaceAll('\n', indent)}`);
  }
}

/**
 * Replaces control characters in untrusted text (names, errors, responses), so that it can't control the terminal.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, '·');
}

/** Formats an ISO 8601 time as `2026-11-21 12:30:05Z`; null as an empty string. */
export function shownTime(iso: string | null): string {
  return iso === null ? '' : `${iso.slice(0, 10)} ${iso.slice(11, 19)}Z`;
}

/** `0.6 s`, `12 s`, `3 min 20 s`, `1 h 5 min`; empty for null. */
export function shownDuration(ms: number | null): string {
  if (ms === null) return '';
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `812 B`, `1.4 MiB`. */
export function shownSize(sizeBytes: number): string {
  if (sizeBytes < 1024) return `${sizeBytes} B`;
  let size = sizeBytes / 1024;
  for (const unit of ['KiB', 'MiB', 'GiB']) {
    if (size < 1023.95) return `${size.toFixed(1)} ${unit}`;
    size /= 1024;
  }
  return `${size.toFixed(1)} TiB`;
}

/** Says on standard error how a list continues. */
export function noteNextPage(what: string, next: string | null): void {
  if (next !== null) process.stderr.write(`There are more ${what}. Continue with --after ${next}\n`);
}

/** `1 job`, `3 jobs`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
