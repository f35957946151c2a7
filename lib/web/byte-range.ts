import type { ByteRange } from '../assets/asset-store.ts';

const SINGLE = /^bytes=(\d*)-(\d*)$/;

/**
 * The byte range of a Range header (RFC 9110 §14): undefined for the whole file, also if the header is invalid or
 * names several ranges; `unsatisfiable` if the range starts beyond the end.
 */
export function byteRangeOf(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'unsatisfiable' | undefined {
  const match = SINGLE.exec(header?.trim() ?? '');
  const [, first, last] = match ?? [];
  if (!first && !last) return undefined;
  if (!first) {
    const length = Math.min(Number(last), sizeBytes);
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 };
  }
  const start = Number(first);
  if (last && Number(last) < start) return undefined;
  if (start >= sizeBytes) return 'unsatisfiable';
  return { start, end: last ? Math.min(Number(last), sizeBytes - 1) : sizeBytes - 1 };
}
