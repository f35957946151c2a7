import type { Readable } from 'node:stream';

/**
 * Control characters, including C1 and the line and paragraph separators, which must not reach a log, a terminal or a
 * client.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g;

/**
 * Invisible characters that can disguise text. Joiners and direction marks are kept: emoji, Persian, Hindi and Hebrew
 * need them.
 */
const DISGUISING = /[\u00ad\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Removes control characters, except tab and newline, and disguising characters from untrusted text. */
export function withoutControlCharacters(text: string): string {
  return text.replace(CONTROL, '').replace(DISGUISING, '');
}

/**
 * Calls `onLine` for each line of a stream. Drops lines longer than `maxBytes`, which bounds the memory of the
 * reader.
 */
export function readLines(stream: Readable, maxBytes: number, onLine: (line: string) => void): void {
  let pieces: Buffer[] = [];
  let length = 0;
  let tooLong = false;
  stream.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, end));
      if (!tooLong) onLine(Buffer.concat(pieces).toString('utf8'));
      pieces = [];
      length = 0;
      tooLong = false;
      start = end + 1;
    }
    add(chunk.subarray(start));
  });

  function add(piece: Buffer): void {
    length += piece.length;
    if (length > maxBytes) {
      tooLong = true;
      pieces = [];
    } else pieces.push(piece);
  }
}

/** Parses a line as a JSON object; undefined when it is not one. */
export function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
