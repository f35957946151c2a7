import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
// Not by name: a version of Node without it must reach the error that names the version.
import zlib from 'node:zlib';
import { ScenepressError } from '../../base/errors.ts';
import { LOADER } from '../environment/flush.ts';
import type { Archive, Segment } from './archive.ts';

const READ_BYTES = 1024 * 1024;
const PROGRAM_PATH = '/usr/local/bin:/usr/bin:/bin';

/** The content of the archive doesn't match its build. */
class Damaged extends Error {}

/**
 * Unpacks all segments into an empty folder with the root's own tar, if the archive has it: the machine may have none,
 * and one in JavaScript would be too slow. `onProgress`: the completed fraction, 0 to 1. `signal` aborts it.
 */
export async function unpack(
  archive: Archive,
  folder: string,
  { onProgress, signal }: { onProgress: (part: number) => void; signal?: AbortSignal | undefined },
): Promise<void> {
  const total = archive.segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let done = 0;
  const tools = join(folder, '.tools');
  const own = archive.tools.length > 0;
  const tar: SegmentTask['tar'] = own
    ? [join(tools, LOADER), '--library-path', tools, join(tools, 'tar')]
    : ['tar'];
  try {
    if (own) await copyTools(archive, tools);
    for (const segment of archive.segments) {
      const onRead = (bytes: number) => {
        done += bytes;
        onProgress(done / total);
      };
      await unpackSegment(archive.file, segment, { tar, folder, onRead, signal });
    }
  } catch (cause) {
    if (!(cause instanceof Damaged)) throw cause;
    const message = `${archive.file} is damaged: its renderer doesn't match the build. Copy the file here again.`;
    throw new ScenepressError('renderer_unavailable', message, { cause });
  }
  await rm(tools, { recursive: true, force: true });
}

async function copyTools(archive: Archive, folder: string): Promise<void> {
  await mkdir(folder);
  for (const tool of archive.tools) {
    const path = join(folder, tool.name);
    const { stream, check } = readSegment(archive.file, tool, () => {});
    await pipeline(stream, check, createWriteStream(path));
    await chmod(path, 0o755);
  }
}

interface SegmentTask {
  /** The command. */
  tar: [string, ...string[]];
  folder: string;
  onRead: (bytes: number) => void;
  signal: AbortSignal | undefined;
}

async function unpackSegment(
  file: string,
  segment: Segment,
  { tar: [command, ...before], folder, onRead, signal }: SegmentTask,
): Promise<void> {
  // Renders run under other user ids and must be able to read the files, whatever this process's umask is.
  const options = ['--extract', '--no-same-owner', '--preserve-permissions', '--directory', folder];
  const tar = spawn(command, [...before, ...options], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: PROGRAM_PATH },
    detached: true, // Not in the terminal's process group, so Ctrl-C doesn't reach it.
  });
  let complaint = '';
  tar.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(0, 1000);
  });
  const ended = once(tar, 'close') as Promise<[number | null]>;
  ended.catch(() => {}); // Awaited below.
  const { stream, check } = readSegment(file, segment, onRead);
  let problem: unknown;
  try {
    await pipeline(stream, check, zlib.createZstdDecompress({ chunkSize: READ_BYTES }), inputOf(tar), {
      ...(signal && { signal }),
    });
  } catch (error) {
    problem = error;
    tar.kill();
  }
  const [status] = await ended;
  signal?.throwIfAborted();
  if (problem instanceof Damaged || (problem as NodeJS.ErrnoException)?.code?.startsWith('ZSTD')) {
    throw new Damaged(String(problem), { cause: problem });
  }
  if (/no space left|quota exceeded/i.test(complaint)) {
    throw Object.assign(new Error(complaint), { code: 'ENOSPC' });
  }
  if (status !== 0 || problem) {
    throw new Error(`The renderer could not be unpacked: ${complaint.trim() || problem}`, { cause: problem });
  }
}

/** The input of tar, which stops reading at the end-of-archive mark; the rest is discarded. */
export function inputOf({ stdin }: ChildProcessByStdio<Writable, null, Readable>): Writable {
  stdin.on('error', () => {}); // Tar's exit status is checked instead.
  return new Writable({
    write(chunk: Buffer, _encoding, callback) {
      stdin.write(chunk, () => callback());
    },
    final(callback) {
      // Doesn't wait for 'finish', which is never emitted if tar has already exited.
      stdin.end();
      callback();
    },
  });
}

/** A stream of a segment, and a transform to pipe it through that fails at the end if the hash doesn't match. */
function readSegment(file: string, { offset, sizeBytes, sha256 }: Segment, onRead: (bytes: number) => void) {
  const hash = createHash('sha256');
  const check = new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      hash.update(chunk);
      onRead(chunk.length);
      callback(null, chunk);
    },
    flush(callback) {
      const isSame = sha256 === undefined || hash.digest('hex') === sha256;
      callback(isSame ? null : new Damaged('The hash does not match.'));
    },
  });
  const end = offset + sizeBytes - 1;
  return { stream: createReadStream(file, { start: offset, end, highWaterMark: READ_BYTES }), check };
}
