import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { CompletedPart, PutObjectCommandInput } from '@aws-sdk/client-s3';
import type { Bucket } from './s3-client.ts';
import { isCorrupted } from './s3-errors.ts';

/** Headers of an object. */
export type ObjectParams = Pick<
  PutObjectCommandInput,
  'ContentType' | 'CacheControl' | 'ServerSideEncryption' | 'SSEKMSKeyId' | 'BucketKeyEnabled'
>;

interface Source {
  file: FileHandle;
  sizeBytes: number;
}

const PARTS_AT_ONCE = 4;
/** S3 accepts no more parts of an object. */
const MOST_PARTS = 10_000;

/**
 * Uploads a file, in parts if it is larger than one. Once the promise has settled, no parts are left behind.
 *
 * Not with `@aws-sdk/lib-storage`: it aborts while other parts are under way, which then stay; sends no checksum of the
 * whole object; repeats no part that arrived damaged; and takes an upload for failed whose last answer was lost.
 */
export async function upload(
  bucket: Bucket,
  key: string,
  { file, sizeBytes }: Source,
  { partBytes, params }: { partBytes: number; params: ObjectParams },
): Promise<void> {
  if (sizeBytes > partBytes) {
    await uploadParts(bucket, key, { file, sizeBytes }, { partBytes, params });
    return;
  }
  const { client, sdk } = bucket;
  const body = await read(file, 0, sizeBytes);
  const sums = bucket.hasChecksums ? { ChecksumCRC32: base64Of(crc32(body)) } : {};
  await intact(bucket, () =>
    client.send(new sdk.PutObjectCommand({ Bucket: bucket.name, Key: key, Body: body, ...params, ...sums })),
  );
}

async function uploadParts(
  bucket: Bucket,
  key: string,
  { file, sizeBytes }: Source,
  { partBytes, params }: { partBytes: number; params: ObjectParams },
): Promise<void> {
  const { client, sdk, hasChecksums } = bucket;
  const at = { Bucket: bucket.name, Key: key };
  const kind = hasChecksums ? ({ ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' } as const) : {};
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand({ ...at, ...params, ...kind }));
  const lengthBytes = Math.max(partBytes, Math.ceil(sizeBytes / MOST_PARTS));
  const parts: CompletedPart[] = [];
  let crc = 0;
  let isAllSent = false;
  try {
    for (let start = 0; start < sizeBytes; ) {
      const bodies: Buffer[] = [];
      for (; start < sizeBytes && bodies.length < PARTS_AT_ONCE; start += lengthBytes) {
        bodies.push(await read(file, start, Math.min(lengthBytes, sizeBytes - start)));
      }
      for (const body of bodies) crc = crc32(body, crc);
      const sending = bodies.map((body, index) =>
        sendPart(bucket, { ...at, UploadId, PartNumber: parts.length + index + 1, Body: body }),
      );
      // All of them, because a part that arrives after the upload was aborted would stay.
      for (const sent of await Promise.allSettled(sending)) {
        if (sent.status === 'rejected') throw sent.reason;
        parts.push(sent.value);
      }
    }
    const sums = hasChecksums ? ({ ChecksumCRC32: base64Of(crc), ChecksumType: 'FULL_OBJECT' } as const) : {};
    isAllSent = true;
    await intact(bucket, () =>
      client.send(
        new sdk.CompleteMultipartUploadCommand({
          ...at,
          UploadId,
          MultipartUpload: { Parts: parts },
          ...sums,
        }),
      ),
    );
  } catch (error) {
    if (isAllSent && (await isCompleted(bucket, key, { sizeBytes, crc }))) return;
    // Uploads that can't be aborted now are aborted by a later start.
    await client.send(new sdk.AbortMultipartUploadCommand({ ...at, UploadId })).catch(() => {});
    throw error;
  }
}

async function sendPart(
  bucket: Bucket,
  part: { Bucket: string; Key: string; UploadId: string | undefined; PartNumber: number; Body: Buffer },
): Promise<CompletedPart> {
  const { client, sdk } = bucket;
  const sums = bucket.hasChecksums ? { ChecksumCRC32: base64Of(crc32(part.Body)) } : {};
  const { ETag } = await intact(bucket, () => client.send(new sdk.UploadPartCommand({ ...part, ...sums })));
  return { PartNumber: part.PartNumber, ...sums, ...(ETag !== undefined && { ETag }) };
}

/** Whether the upload was completed by a request whose response was lost or could not be read. */
async function isCompleted(
  { client, sdk, name, hasChecksums }: Bucket,
  key: string,
  { sizeBytes, crc }: { sizeBytes: number; crc: number },
): Promise<boolean> {
  const mode = hasChecksums ? ({ ChecksumMode: 'ENABLED' } as const) : {};
  const head = await client
    .send(new sdk.HeadObjectCommand({ Bucket: name, Key: key, ...mode }))
    .catch(() => undefined);
  return head?.ContentLength === sizeBytes && (head.ChecksumCRC32 ?? base64Of(crc)) === base64Of(crc);
}

/** Repeats a request whose bytes did not arrive intact. The SDK repeats after network errors, 429 and 5xx. */
async function intact<T>({ attempts }: Bucket, send: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (attempt === attempts || !isCorrupted(error)) throw error;
    }
  }
}

async function read(file: FileHandle, start: number, lengthBytes: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(lengthBytes);
  for (let done = 0; done < lengthBytes; ) {
    const { bytesRead } = await file.read(bytes, done, lengthBytes - done, start + done);
    if (bytesRead === 0) throw new Error('The file became shorter while it was read.');
    done += bytesRead;
  }
  return bytes;
}

/** As S3 writes a CRC-32. */
export function base64Of(crc: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return bytes.toString('base64');
}
