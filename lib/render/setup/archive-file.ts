import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ScenepressError } from '../../base/errors.ts';
import { type Archive, findArchive } from './archive.ts';

const ZSTANDARD = 0xfd2fb528;
const MAGIC_BYTES = 4;
const ENDS_BYTES = 65_536;
/** How much larger a root is than its archive, if nothing says it. */
const USUAL_RATIO = 4;

/**
 * The archive in a file: the single executable, or a root as `npm run build:root` makes it (`.tar.zst`). Error:
 * `renderer_unavailable`, if the file is neither.
 */
export async function openArchive(path: string): Promise<Archive> {
  const file = resolve(path);
  try {
    return findArchive(file) ?? (await tarArchive(file));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (cause instanceof ScenepressError || code === undefined) throw cause;
    throw new ScenepressError('renderer_unavailable', `The archive ${file} can't be read (${code}).`, {
      cause,
    });
  }
}

async function tarArchive(file: string): Promise<Archive> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const { buffer: head, bytesRead } = await handle.read(Buffer.alloc(ENDS_BYTES), 0, ENDS_BYTES, 0);
    if (bytesRead < MAGIC_BYTES || head.readUInt32LE(0) !== ZSTANDARD) {
      throw new ScenepressError(
        'renderer_unavailable',
        `${file} contains no renderer. Name the single executable, or a root-….tar.zst of \`npm run build:root\`.`,
      );
    }
    const start = Math.max(0, size - ENDS_BYTES);
    const { buffer: tail } = await handle.read(Buffer.alloc(ENDS_BYTES), 0, ENDS_BYTES, start);
    // The end has a checksum of everything, so the name identifies the content without reading it all.
    const name = createHash('sha256').update(`${size} `).update(head).update(tail).digest('hex');
    return {
      file,
      name: name.slice(0, 16),
      unpackedBytes: (await unpackedBytesOf(file)) ?? size * USUAL_RATIO,
      tools: [],
      segments: [{ offset: 0, sizeBytes: size }],
    };
  } finally {
    await handle.close();
  }
}

/** From the manifest that the build puts beside the archive. */
async function unpackedBytesOf(file: string): Promise<number | undefined> {
  const text = await readFile(file.replace(/\.tar\.zst$/, '.json'), 'utf8').catch(() => '{}');
  try {
    return (JSON.parse(text) as { unpackedBytes?: number }).unpackedBytes;
  } catch {
    return undefined;
  }
}
