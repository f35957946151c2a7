import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { ScenepressError } from '../../base/errors.ts';
import type { GivenFile, GivenFiles } from '../../model/owner-file.ts';
import { bodyIncomplete, decodeUtf8, tooLarge } from '../request-body.ts';

/** A part of a form, while it is received. */
interface Part {
  name: string;
  content: AsyncIterable<Uint8Array>;
}

/** A form (`multipart/form-data`) whose first part has been received. */
export interface ReceivedForm {
  /** The part `request`. */
  text: string;
  /** The other parts are files; `named`: those that the request names by their ids. */
  files: (named: Readonly<Record<string, string>> | undefined) => GivenFiles;
  /** Gives up the rest. */
  end: () => Promise<void>;
}

/** The name of the part with the JSON. */
const REQUEST = 'request';
/** More than a job comes with, so that the error is said where they are counted. */
const MOST_PARTS = 510;
const LIMITS = {
  parts: MOST_PARTS,
  files: MOST_PARTS,
  fieldNameSize: 2_048,
  headerPairs: 20,
  headerSize: 8_192,
};

/** Whether a body of this `Content-Type` is a form. */
export function isForm(contentType: string | null): contentType is string {
  return /^multipart\/form-data\s*;/i.test(contentType ?? '');
}

/**
 * Receives the first part of a form, `request`, which is JSON. The files are received while the rest is read, one after the
 * other. Errors: `invalid_request`; 413 for a first part of more than `mostBytes`.
 */
export async function receiveForm(
  body: AsyncIterable<Uint8Array>,
  { contentType, mostBytes }: { contentType: string; mostBytes: number },
): Promise<ReceivedForm> {
  const parts = partsOf(body, contentType);
  try {
    const { value: first } = await parts.next();
    if (first?.name !== REQUEST)
      throw new ScenepressError('invalid_request', 'The first part of the form is `request`, with the JSON.');
    const text = decodeUtf8(await read(first.content, mostBytes));
    return {
      text,
      files: (named) => filesOf(named, parts),
      end: async () => {
        await parts.return();
      },
    };
  } catch (error) {
    await parts.return();
    throw error;
  }
}

async function* filesOf(
  named: Readonly<Record<string, string>> | undefined,
  parts: AsyncGenerator<Part, void>,
): AsyncGenerator<readonly [name: string, file: GivenFile]> {
  yield* Object.entries(named ?? {});
  for await (const { name, content } of parts) yield [name, { content }];
}

/** The parts of a form, one after the other. What is left of one is discarded when the next one is asked for. */
async function* partsOf(body: AsyncIterable<Uint8Array>, contentType: string): AsyncGenerator<Part, void> {
  const parser = parserOf(contentType);
  const streams: { name: string; stream: Readable }[] = [];
  let changed = Promise.withResolvers<void>();
  let end: { error?: unknown } | undefined;
  const change = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  parser.on('file', (name, stream) => {
    // Each reports its errors where it is read.
    stream.on('error', () => {});
    streams.push({ name: name?.toWellFormed() ?? '', stream });
    change();
  });
  const open = new Set<Readable>();
  pipeline(body, parser).then(
    () => {
      end = {};
      change();
    },
    (error: unknown) => {
      end = { error };
      // Else what waits for more of them would wait forever.
      for (const stream of open) stream.destroy(bodyIncomplete(error));
      change();
    },
  );
  try {
    for (;;) {
      const next = streams.shift();
      if (next) {
        open.add(next.stream);
        if (end && 'error' in end) throw bodyIncomplete(end.error);
        yield { name: next.name, content: next.stream };
        next.stream.resume();
        if (!next.stream.readableEnded) await ended(next.stream);
        open.delete(next.stream);
      } else if (end) {
        if ('error' in end) throw bodyIncomplete(end.error);
        return;
      } else await changed.promise;
    }
  } finally {
    parser.destroy();
  }
}

/** Resolves when a stream has been read to its end. Rejects with its error. */
function ended(stream: Readable): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  stream.once('end', resolve).once('error', reject);
  if (stream.destroyed) reject(bodyIncomplete(stream.errored));
  return promise;
}

function parserOf(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: LIMITS,
      // Programs send JSON and texts without a name of a file, too.
      isPartAFile: () => true,
    });
  } catch (cause) {
    throw bodyIncomplete(cause);
  }
}

async function read(content: AsyncIterable<Uint8Array>, mostBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of content) {
    sizeBytes += piece.length;
    if (sizeBytes > mostBytes) throw tooLarge(mostBytes);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
