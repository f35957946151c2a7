import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { GetObjectCommandInput } from '@aws-sdk/client-s3';
import { ScenepressError } from '../../base/errors.ts';
import type { ByteRange, OpenedAsset } from '../asset-store.ts';
import type { Bucket } from './s3-client.ts';
import { failureOf, isMissing } from './s3-errors.ts';
import { base64Of } from './upload.ts';

/** A response with an object or a range of it. */
interface Answer {
  body: Readable;
  /** The size of the whole object. */
  sizeBytes: number;
  etag: string | undefined;
  /** The CRC-32 of the whole object, if the response has it all. */
  sum: string | undefined;
}

const RANGE = /^bytes (\d+)-\d+\/(\d+)$/;

/**
 * Opens an object for reading; undefined if there is none. The stream requests the rest when a response ends early, and
 * fails rather than ending when the bytes are not those that were stored.
 */
export async function download(
  bucket: Bucket,
  key: string,
  { range, signal }: { range: ByteRange | undefined; signal: AbortSignal | undefined },
): Promise<OpenedAsset | undefined> {
  const first = await request(bucket, key, { range, signal });
  if (!first) return undefined;
  const { sizeBytes } = first;
  const end = Math.min(range?.end ?? sizeBytes - 1, sizeBytes - 1);
  return { stream: new ObjectStream(bucket, key, first, { start: range?.start ?? 0, end }), sizeBytes };
}

/** The bytes of an object, which may need several responses. */
class ObjectStream extends Readable {
  readonly #bucket: Bucket;
  readonly #key: string;
  readonly #first: Answer;
  readonly #range: ByteRange;
  readonly #closed = new AbortController();
  readonly #chunks: AsyncGenerator<Buffer>;
  #answer: Answer;

  constructor(bucket: Bucket, key: string, first: Answer, range: ByteRange) {
    super();
    this.#bucket = bucket;
    this.#key = key;
    this.#first = first;
    this.#range = range;
    this.#answer = first;
    this.#chunks = this.#read();
  }

  override _read(): void {
    this.#chunks.next().then(
      ({ value }) => this.push(value ?? null),
      (error: Error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#closed.abort();
    this.#answer.body.destroy();
    callback(error);
  }

  async *#read(): AsyncGenerator<Buffer, undefined> {
    const { end } = this.#range;
    let { start } = this.#range;
    let crc = 0;
    let failures = 0;
    let reading = this.#answer.body[Symbol.asyncIterator]();
    while (start <= end) {
      let problem: unknown = new Error('the response ended early');
      const next = await reading.next().catch((error: unknown) => {
        problem = error;
        return { done: true as const, value: undefined };
      });
      if (next.done) {
        this.#closed.signal.throwIfAborted();
        failures += 1;
        if (failures === this.#bucket.attempts) throw failureOf(`${this.#name} could not be read`, problem);
        reading = (await this.#rest({ start, end }))[Symbol.asyncIterator]();
        continue;
      }
      const chunk: Buffer = next.value;
      start += chunk.length;
      crc = crc32(chunk, crc);
      failures = 0;
      // Checked before the last chunk is passed on, so that the reader doesn't take the object for complete.
      if (start > end) this.#assertIntact({ excessBytes: start - end - 1, crc });
      yield chunk;
    }
    return undefined;
  }

  /** The bytes that are missing. */
  async #rest(range: ByteRange): Promise<Readable> {
    this.#answer.body.destroy();
    const { signal } = this.#closed;
    const answer = await request(this.#bucket, this.#key, { range, etag: this.#first.etag, signal });
    if (!answer) throw new ScenepressError('artifact_gone', `${this.#name} was removed while it was read.`);
    this.#answer = answer;
    return answer.body;
  }

  #assertIntact({ excessBytes, crc }: { excessBytes: number; crc: number }): void {
    const { sum } = this.#first;
    if (excessBytes === 0 && (sum === undefined || sum === base64Of(crc))) return;
    const reason =
      excessBytes > 0 ? 'more bytes than it announced' : 'bytes whose checksum is not that of the object';
    throw new ScenepressError(
      'storage_failed',
      `${this.#name} could not be read: S3 sent ${reason}. Try again; if it recurs, render the scene again.`,
    );
  }

  get #name(): string {
    return `The object ${this.#key} of the bucket ${this.#bucket.name}`;
  }
}

async function request(
  { sdk, client, name, hasChecksums }: Bucket,
  key: string,
  {
    range,
    etag,
    signal,
  }: { range: ByteRange | undefined; etag?: string | undefined; signal: AbortSignal | undefined },
): Promise<Answer | undefined> {
  const input: GetObjectCommandInput = { Bucket: name, Key: key };
  if (range) input.Range = `bytes=${range.start}-${range.end}`;
  else if (hasChecksums) input.ChecksumMode = 'ENABLED';
  if (etag !== undefined) input.IfMatch = etag;
  const action = `The object ${key} of the bucket ${name} could not be read`;
  const options = signal ? { abortSignal: signal } : {};
  const output = await client.send(new sdk.GetObjectCommand(input), options).catch((error: unknown) => {
    signal?.throwIfAborted();
    if (isMissing(error)) return undefined;
    throw failureOf(action, error);
  });
  if (!output) return undefined;
  const body = output.Body as Readable;
  // Until it is read, nothing else listens.
  body.on('error', () => {});
  const refused = (reason: string) => {
    body.destroy();
    return new ScenepressError('storage_failed', `${action}: ${reason}`);
  };
  const [, from, total] = RANGE.exec(output.ContentRange ?? '') ?? [];
  if (range && (total === undefined || Number(from) !== range.start))
    throw refused('the server did not answer with the requested range.');
  const sizeBytes = total === undefined ? output.ContentLength : Number(total);
  if (sizeBytes === undefined)
    throw refused('the response has no Content-Length. Check the proxies before the server.');
  // The checksum of an object that another program uploaded in parts may be one of its parts' checksums: 'abc=-3'.
  const sum = output.ChecksumCRC32?.includes('-') ? undefined : output.ChecksumCRC32;
  return {
    body,
    sizeBytes,
    etag: output.ETag,
    sum: range ? undefined : sum,
  };
}
