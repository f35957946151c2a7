import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Random } from '../base/random.ts';
import { BEGINNING_BYTES, hasBeginning } from '../model/file-kinds.ts';
import { randomId } from '../model/ids.ts';
import type { FileContent } from '../model/owner-file.ts';
import { invalid, type NamedKind } from './names.ts';

/** A content that was received. */
export interface Received {
  /** Of a temporary file. */
  path: string;
  sizeBytes: number;
  /** Hexadecimal. */
  sha256: string;
}

const MIB = 1024 ** 2;
/** The root element of a drawing stands among the first bytes. */
const LOOKED_AT_BYTES = 64 * 1024;

/**
 * Writes a content to a temporary file, which the caller removes. Errors: `invalid_request` for one that is too large, or not
 * what its name says; those of `count`, of the content and of the disk.
 */
export async function receive(
  content: FileContent,
  { kind, extension, isText }: NamedKind,
  {
    folder,
    mostBytes,
    count,
    random,
    signal,
  }: {
    folder: string;
    mostBytes: number;
    /** Counts bytes before they are written. Throws when these would be too many. */
    count: (bytes: number) => void;
    random: Random;
    signal: AbortSignal | undefined;
  },
): Promise<Received> {
  const path = join(folder, randomId('upload', random));
  const file = await open(path, 'wx', 0o600);
  const digest = createHash('sha256');
  const text = isText ? new TextDecoder('utf-8', { fatal: true }) : undefined;
  let sizeBytes = 0;
  let beginning = Buffer.alloc(0);
  try {
    for await (const piece of piecesOf(content)) {
      signal?.throwIfAborted();
      sizeBytes += piece.length;
      if (sizeBytes > mostBytes)
        throw invalid(`A file has at most ${(mostBytes / MIB).toLocaleString('en')} MiB.`);
      count(piece.length);
      if (beginning.length < LOOKED_AT_BYTES)
        beginning = Buffer.concat([beginning, piece.subarray(0, LOOKED_AT_BYTES - beginning.length)]);
      if (text) decode(text, piece, true);
      digest.update(piece);
      await file.writeFile(piece);
    }
    if (text) decode(text, new Uint8Array(), false);
    if (!hasBeginning(extension, beginning.subarray(0, BEGINNING_BYTES)))
      throw invalid(`The content is not that of a .${extension} file.`);
    if (kind === 'drawing' && !/<svg[\s>]/.test(beginning.toString('utf8')))
      throw invalid('The content has no <svg> element.');
    signal?.throwIfAborted();
    return { path, sizeBytes, sha256: digest.digest('hex') };
  } catch (error) {
    await rm(path, { force: true }).catch(() => {});
    throw error;
  } finally {
    await file.close();
  }
}

/** A content in pieces. */
export async function* piecesOf(content: FileContent): AsyncGenerator<Uint8Array> {
  if (typeof content === 'string') yield Buffer.from(content);
  else if (content instanceof Uint8Array) yield content;
  else yield* content;
}

function decode(decoder: InstanceType<typeof TextDecoder>, piece: Uint8Array, stream: boolean): void {
  let text: string;
  try {
    text = decoder.decode(piece, { stream });
  } catch {
    throw invalid('The content is not text in UTF-8.');
  }
  if (text.includes('\0')) throw invalid('The content is not text: it has a NUL character.');
}
