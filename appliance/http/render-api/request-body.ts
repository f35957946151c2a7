import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { bodyIncomplete, bodyRequired, decoderOf, MAX_BODY_BYTES, tooLarge } from '../../../lib/web/index.ts';

/**
 * Maximum size of an unwanted body that is read before the response: most clients send the whole body before they
 * read, and would lose the response if the connection were closed earlier.
 */
const MAX_DISCARDED_BYTES = 4 * 1024 * 1024;

/** Reads the body to its end, decompressed; 413 when it is too large. */
export async function readBody(
  message: IncomingMessage,
  mostBytes: number = MAX_BODY_BYTES,
): Promise<Buffer> {
  // The client disconnected while its key was checked: no more events will follow.
  if (message.destroyed && !message.readableEnded) throw bodyRequired();
  const decoder = decoderOf(message.headers['content-encoding']);
  const source = decoder ? message.pipe(decoder) : message;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  source.on('data', (chunk: Buffer) => {
    sizeBytes += chunk.length;
    if (sizeBytes > mostBytes) reject(tooLarge(mostBytes));
    else chunks.push(chunk);
  });
  source.once('end', () => resolve(Buffer.concat(chunks)));
  source.once('error', (cause) => reject(bodyRequired(cause)));
  message.once('error', (cause) => reject(bodyRequired(cause)));
  try {
    return await promise;
  } catch (error) {
    source.removeAllListeners('data');
    if (decoder) {
      // Not `pipeline`, which would destroy the connection with the decoder, before the response.
      message.unpipe(decoder);
      decoder.destroy();
    }
    await discardBody(message);
    throw error;
  }
}

/** The body, decompressed, while it is received. The connection stays open for a response when it is given up. */
export async function* bodyOf(message: IncomingMessage): AsyncGenerator<Buffer> {
  // The client disconnected while its key was checked: no more events will follow.
  if (message.destroyed && !message.readableEnded) throw bodyIncomplete(undefined);
  const pieces = message.iterator({ destroyOnReturn: false });
  const decoder = decoderOf(message.headers['content-encoding']);
  const fed = decoder && feed(decoder, pieces);
  fed?.catch((error: Error) => decoder?.destroy(error));
  try {
    yield* decoder ?? pieces;
  } catch (cause) {
    throw bodyIncomplete(cause);
  } finally {
    decoder?.destroy();
    await fed?.catch(() => {});
  }
}

/** Not `pipeline`, which would destroy the connection with the decoder, before the response. */
async function feed(decoder: Transform, pieces: AsyncIterable<Buffer>): Promise<void> {
  for await (const piece of pieces) {
    if (decoder.destroyed) return;
    if (!decoder.write(piece)) await Promise.race([once(decoder, 'drain'), once(decoder, 'close')]);
  }
  decoder.end();
}

/** Reads and discards the rest of a body, up to a limit. */
export async function discardBody(message: IncomingMessage): Promise<void> {
  if (message.readableEnded || message.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  let sizeBytes = 0;
  const count = (chunk: Buffer) => {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_DISCARDED_BYTES) resolve();
  };
  message.on('data', count).once('end', resolve).once('close', resolve);
  message.resume();
  await promise;
  message.off('data', count);
}
