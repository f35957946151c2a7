import assert from 'node:assert/strict';
import type { MultipartUpload } from '@aws-sdk/client-s3';
import { known, type Names } from '../../base/known-options.ts';
import type { ArtifactUrl } from '../../model/job-json.ts';
import { type Clock, systemClock } from '../../time/clock.ts';
import {
  type AssetStore,
  assertAssetKey,
  type ByteRange,
  CLAIM_FILE,
  isAssetKey,
  type OpenedAsset,
} from '../asset-store.ts';
import { openRegularFile } from '../regular-file.ts';
import { download } from './download.ts';
import { type Bucket, loadPresigner, loadSdk, openBucket } from './s3-client.ts';
import { failureOf, isMissing } from './s3-errors.ts';
import type { PresignOptions, S3Encryption, S3Options } from './s3-options.ts';
import { type ObjectParams, upload } from './upload.ts';

const PART_BYTES = 8 * 1024 * 1024;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MOST_EXPIRES_MS = 7 * DAY_MS;
/** Artifacts never change, as with the HTTP API's own links. */
const CACHE_CONTROL = 'public, max-age=31536000, immutable';

const OPTIONS: Names<S3Options> = {
  bucket: true,
  prefix: true,
  region: true,
  endpoint: true,
  pathStyle: true,
  credentials: true,
  ca: true,
  publicUrl: true,
  encryption: true,
  checksums: true,
  timeoutMs: true,
  attempts: true,
  partBytes: true,
  clock: true,
};
const ENCRYPTION: Names<S3Encryption> = { algorithm: true, keyId: true, bucketKey: true };

/**
 * Artifacts as objects of a bucket, of AWS or of any server with its protocol: `<prefix><jobId>-<token>/video.mp4`.
 *
 * Needs the package `@aws-sdk/client-s3`, and for {@link S3AssetStore.presign} also `@aws-sdk/s3-request-presigner`.
 * The credentials must permit `s3:GetObject`, `s3:PutObject`, `s3:DeleteObject`, `s3:AbortMultipartUpload`,
 * `s3:ListBucket` (without which missing objects look forbidden) and `s3:ListBucketMultipartUploads`.
 *
 * Errors are `storage_failed`, with advice. While one has `retryAfterMs`, jobs wait instead of failing.
 *
 * ```ts
 * const assets = new S3AssetStore({ bucket: 'renders', region: 'eu-central-1' });
 * const service = new RenderService({ folder: './renders', assets });
 * ```
 */
export class S3AssetStore implements AssetStore {
  readonly #options: S3Options;
  readonly #clock: Clock;
  #bucket: Bucket | undefined;

  constructor(options: S3Options) {
    const {
      bucket,
      prefix = '',
      partBytes = PART_BYTES,
      clock = systemClock,
    } = known('s3', options, OPTIONS);
    if (options.encryption) known('encryption', options.encryption, ENCRYPTION);
    assert(bucket, 'a bucket');
    assert(!prefix.startsWith('/'), 'a prefix without a leading slash');
    assert(Number.isInteger(partBytes) && partBytes > 0, 'partBytes in bytes');
    this.#options = options;
    this.#clock = clock;
  }

  /**
   * Loads the SDK, checks that the bucket can be used, and aborts uploads that another process left unfinished more
   * than a day ago.
   */
  async start(): Promise<void> {
    if (this.#bucket) return;
    const bucket = openBucket(await loadSdk(), this.#options, this.#clock);
    try {
      // Not HEAD, whose answer has no reason: servers answer 404 for an unknown access key, too.
      await bucket.client.send(new bucket.sdk.ListObjectsV2Command({ Bucket: bucket.name, MaxKeys: 1 }));
    } catch (error) {
      bucket.client.destroy();
      throw failureOf(`The bucket ${bucket.name} can't be used`, error);
    }
    this.#bucket = bucket;
    await this.#abortOldUploads(bucket);
  }

  /** Closes the connections. */
  async stop(): Promise<void> {
    this.#bucket?.client.destroy();
    this.#bucket = undefined;
  }

  async put(assetKey: string, file: { path: string; contentType: string }): Promise<{ sizeBytes: number }> {
    const key = this.#keyOf(assetKey);
    const bucket = this.#started;
    const { partBytes = PART_BYTES } = this.#options;
    const params = this.#paramsOf({ ContentType: file.contentType, CacheControl: CACHE_CONTROL });
    const source = await openRegularFile(file.path);
    try {
      const { size: sizeBytes } = await source.stat();
      await upload(bucket, key, { file: source, sizeBytes }, { partBytes, params });
      return { sizeBytes };
    } catch (error) {
      throw failureOf(`The object ${key} could not be written to the bucket ${bucket.name}`, error);
    } finally {
      await source.close();
    }
  }

  async open(
    assetKey: string,
    range?: ByteRange,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<OpenedAsset | undefined> {
    return download(this.#started, this.#keyOf(assetKey), { range, signal });
  }

  async delete(assetKey: string): Promise<void> {
    const key = this.#keyOf(assetKey);
    const { client, sdk, name } = this.#started;
    await client.send(new sdk.DeleteObjectCommand({ Bucket: name, Key: key })).catch((error: unknown) => {
      if (!isMissing(error))
        throw failureOf(`The object ${key} of the bucket ${name} could not be deleted`, error);
    });
  }

  async readClaim(): Promise<string | undefined> {
    const { client, sdk, name } = this.#started;
    const key = this.#claimKey;
    try {
      const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket: name, Key: key }));
      return await Body?.transformToString();
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw failureOf(`The object ${key} of the bucket ${name} could not be read`, error);
    }
  }

  async writeClaim(text: string): Promise<void> {
    const { client, sdk, name } = this.#started;
    const key = this.#claimKey;
    const params = this.#paramsOf({ ContentType: 'application/json' });
    await client
      .send(new sdk.PutObjectCommand({ ...params, Bucket: name, Key: key, Body: text }))
      .catch((error: unknown) => {
        throw failureOf(`The object ${key} could not be written to the bucket ${name}`, error);
      });
  }

  get #claimKey(): string {
    return `${this.#options.prefix ?? ''}${CLAIM_FILE}`;
  }

  /** With the encryption that is configured. */
  #paramsOf(params: ObjectParams): ObjectParams {
    const { encryption } = this.#options;
    if (!encryption) return params;
    return {
      ...params,
      ServerSideEncryption: encryption.algorithm,
      ...('keyId' in encryption && { SSEKMSKeyId: encryption.keyId }),
      ...('bucketKey' in encryption && { BucketKeyEnabled: encryption.bucketKey }),
    };
  }

  /**
   * A link with which anyone can read an artifact until it expires; a GET request only. For `redirectTo` of the HTTP
   * API: `redirectTo: ({ assetKey }) => assets.presign(assetKey)`. Does not ask the server whether the artifact exists.
   */
  async presign(assetKey: string, options: PresignOptions = {}): Promise<string> {
    const { expiresInMs = HOUR_MS } = known('presign', options, { expiresInMs: true });
    assert(expiresInMs >= 1000 && expiresInMs <= MOST_EXPIRES_MS, 'expiresInMs of a second to seven days');
    const key = this.#keyOf(assetKey);
    const { client, sdk, name } = this.#started;
    const { getSignedUrl } = await loadPresigner();
    const command = new sdk.GetObjectCommand({ Bucket: name, Key: key });
    const terms = {
      expiresIn: Math.floor(expiresInMs / 1000),
      signingDate: new Date(this.#serverNow(client)),
    };
    return getSignedUrl(client, command, terms).catch((error: unknown) => {
      throw failureOf(`The object ${key} of the bucket ${name} could not be linked to`, error);
    });
  }

  /**
   * Links below `publicUrl`, for `artifactUrl` of {@link RenderService} and of the HTTP API. The bucket, or the CDN before
   * it, must let anyone read.
   */
  readonly artifactUrl: ArtifactUrl = ({ assetKey }) => {
    const { publicUrl } = this.#options;
    assert(publicUrl !== undefined, 'an S3 store with `publicUrl`');
    const path = this.#keyOf(assetKey).split('/').map(encodeURIComponent).join('/');
    return `${publicUrl.replace(/\/$/, '')}/${path}`;
  };

  /** A best effort: some servers list no uploads, and credentials may lack the permission. */
  async #abortOldUploads(bucket: Bucket): Promise<void> {
    const { client, sdk, name } = bucket;
    const { prefix = '' } = this.#options;
    try {
      for await (const { Key, UploadId, Initiated } of this.#unfinishedUploads(bucket)) {
        if (!Initiated || this.#serverNow(client) - Initiated.getTime() < DAY_MS) continue;
        // Other programs may use the bucket.
        if (!Key?.startsWith(prefix) || !isAssetKey(Key.slice(prefix.length))) continue;
        const upload = { Bucket: name, Key, UploadId };
        await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch((error: Error) => {
          if (error.name !== 'NoSuchUpload') throw error; // Else another process was faster.
        });
      }
    } catch {
      // Their parts stay until the next start, or until a lifecycle rule of the bucket removes them.
    }
  }

  async *#unfinishedUploads({ client, sdk, name }: Bucket): AsyncGenerator<MultipartUpload> {
    const { prefix = '' } = this.#options;
    const place = { Bucket: name, ...(prefix !== '' && { Prefix: prefix }) };
    for (let after = {}; ; ) {
      const page = await client.send(new sdk.ListMultipartUploadsCommand({ ...place, ...after }));
      yield* page.Uploads ?? [];
      if (!page.IsTruncated || page.NextKeyMarker === undefined) return;
      after = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    }
  }

  /** The time of the server, which the SDK learns when it refuses the clock of this machine. */
  #serverNow({ config }: Bucket['client']): number {
    return this.#clock.now() + config.systemClockOffset;
  }

  #keyOf(assetKey: string): string {
    assertAssetKey(assetKey);
    return `${this.#options.prefix ?? ''}${assetKey}`;
  }

  get #started(): Bucket {
    assert(this.#bucket, 'a started S3 store');
    return this.#bucket;
  }
}

/**
 * An {@link S3AssetStore} with these options.
 *
 * ```ts
 * const assets = s3({ bucket: 'renders', endpoint: 'https://s3.example.org' });
 * const service = new RenderService({ folder: './renders', assets });
 * ```
 */
export function s3(options: S3Options): S3AssetStore {
  return new S3AssetStore(options);
}
