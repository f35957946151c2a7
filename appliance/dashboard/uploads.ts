import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { badRequest, unsupportedMediaType } from '@hapi/boom';
import { texts } from './language/texts.ts';

/** A file of a form, while it is received. */
export interface SentFile {
  /** As the browser names it, without folders. */
  fileName: string;
  content: AsyncIterable<Uint8Array>;
  /** The fields before it. */
  fields: Readonly<Record<string, string>>;
}

/** Of one form. */
export const MOST_FILES = 100;
const LIMITS = {
  files: MOST_FILES,
  fields: 10,
  fieldSize: 2_000,
  parts: MOST_FILES + 10,
  headerPairs: 20,
  headerSize: 8_192,
};

/**
 * Receives the files of a form (`multipart/form-data`), one after the other, without keeping more than a few blocks in
 * memory. What `keep` leaves of a file is discarded. Rejects with the first error of `keep`; 400 when the form is incomplete.
 */
export async function receiveFiles(
  message: IncomingMessage,
  keep: (file: SentFile) => Promise<void>,
): Promise<void> {
  const parser = parserOf(message);
  const fields: Record<string, string> = Object.create(null);
  const files = new Set<Readable>();
  let kept = Promise.resolve();
  parser.on('field', (name, value) => {
    fields[name] = value.toWellFormed();
  });
  parser.on('file', (_, file, fileName) => {
    files.add(file);
    // Each reports its errors where it is read, and may be read later.
    file.on('error', () => {});
    const sent = { fileName: fileName?.toWellFormed() ?? '', fields: { ...fields } };
    kept = kept.then(() => receive(file, (content) => keep({ ...sent, content })));
    kept.then(
      () => files.delete(file),
      (error: Error) => parser.destroy(error),
    );
  });
  // The pipeline reports the first one.
  parser.on('error', () => {});
  try {
    await pipeline(message.iterator({ destroyOnReturn: false }), parser);
  } catch (cause) {
    // Else what waits for more of them would wait forever.
    for (const file of files) file.destroy(incomplete(cause));
    await kept;
    throw incomplete(cause);
  }
  await kept;
}

function parserOf({ headers }: IncomingMessage): BusboyInstance {
  const type = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;/i.test(type)) throw unsupportedMediaType(texts().errors.notAForm);
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': type } satisfies BusboyHeaders,
      limits: LIMITS,
    });
  } catch (cause) {
    throw incomplete(cause);
  }
}

async function receive(
  file: Readable,
  keep: (content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const pieces: AsyncIterator<Uint8Array> = file[Symbol.asyncIterator]();
  // Without `return`: a loop that ends early must not destroy the file, whose end the parser waits for.
  await keep({ [Symbol.asyncIterator]: () => ({ next: () => pieces.next() }) });
  while (!(await pieces.next()).done);
}

function incomplete(cause: unknown): Error {
  const error = badRequest(texts().errors.formIsIncomplete);
  error.cause = cause;
  return error;
}
