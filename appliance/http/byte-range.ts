import type { ByteRange } from '../../lib/index.ts';

const SINGLE = /^bytes=(\d*)-(\d*)$/;

/**
 * The part of a file that a Range header asks for (RFC 9110 §14): undefined for the whole file, which also answers
 * a header that makes no sense or asks for several parts; `unsatisfiable` when it lies beyond the end.
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
