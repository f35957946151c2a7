import { resolve } from 'node:path';
import type { S3AssetStore, S3Options } from '../../lib/assets/s3/index.ts';
import { type AssetStore, type ByteRange, FileAssetStore, type OpenedAsset } from '../../lib/index.ts';
import { ScenepressError } from '../../lib/internal.ts';
import type { ArtifactConfig } from '../config/config.ts';
import { contentOf } from './database-connection.ts';

/** Where artifacts are kept, and how their links lead there. */
export interface ArtifactStore {
  assets: AssetStore;
  /** The bucket; undefined for files. */
  bucket?: S3AssetStore;
}

/** The configured store of artifacts; undefined if none is configured. */
export async function artifactStoreOf(config: ArtifactConfig): Promise<ArtifactStore | undefined> {
  if (config.artifactDir !== undefined) return { assets: new FileAssetStore(resolve(config.artifactDir)) };
  if (config.s3Bucket === undefined) return undefined;
  const { s3 } = await import('../../lib/assets/s3/index.ts');
  const bucket = s3(await s3OptionsOf({ ...config, s3Bucket: config.s3Bucket }));
  return { assets: bucket, bucket };
}

async function s3OptionsOf(config: ArtifactConfig & { s3Bucket: string }): Promise<S3Options> {
  const credentials = await credentialsOf(config);
  const { s3Encryption: algorithm, s3KmsKeyId: keyId } = config;
  return {
    bucket: config.s3Bucket,
    ...(config.s3Prefix !== undefined && { prefix: config.s3Prefix }),
    ...(config.s3Region !== undefined && { region: config.s3Region }),
    ...(config.s3Endpoint !== undefined && { endpoint: config.s3Endpoint }),
    ...(config.s3PathStyle !== undefined && { pathStyle: config.s3PathStyle }),
    ...(config.s3Checksums !== undefined && { checksums: config.s3Checksums }),
    ...(config.s3PublicUrl !== undefined && { publicUrl: config.s3PublicUrl }),
    ...(config.s3Ca !== undefined && { ca: await contentOf(config.s3Ca, 'The CA of S3') }),
    ...(credentials && { credentials }),
    ...(algorithm === 'AES256' && { encryption: { algorithm } }),
    ...(algorithm === 'aws:kms' && { encryption: { algorithm, ...(keyId !== undefined && { keyId }) } }),
  };
}

/** A secret in a file is read again for each request, so that it can be replaced. */
async function credentialsOf(config: ArtifactConfig): Promise<S3Options['credentials']> {
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secret, s3SecretAccessKeyFile: file = '' } = config;
  if (accessKeyId === undefined) return undefined;
  if (secret !== undefined) return { accessKeyId, secretAccessKey: secret };
  const read = async () => {
    const content = await contentOf(file, 'The secret of the access key for S3');
    return { accessKeyId, secretAccessKey: content.trim() };
  };
  await read(); // Ends a start without the file.
  return read;
}

/** A store that is started when it is used: most commands need no artifacts, and work while their store is away. */
export class LazyAssetStore implements AssetStore {
  readonly #store: AssetStore;
  #starting: Promise<void> | undefined;

  constructor(store: AssetStore) {
    this.#store = store;
  }

  async put(assetKey: string, file: { path: string; contentType: string }): Promise<{ sizeBytes: number }> {
    return (await this.#started()).put(assetKey, file);
  }

  async open(
    assetKey: string,
    range?: ByteRange,
    options?: { signal?: AbortSignal },
  ): Promise<OpenedAsset | undefined> {
    return (await this.#started()).open(assetKey, range, options);
  }

  async delete(assetKey: string): Promise<void> {
    await (await this.#started()).delete(assetKey);
  }

  async readClaim(): Promise<string | undefined> {
    return (await this.#started()).readClaim?.();
  }

  async writeClaim(text: string): Promise<void> {
    await (await this.#started()).writeClaim?.(text);
  }

  async stop(): Promise<void> {
    if (this.#starting !== undefined) await this.#store.stop?.();
    this.#starting = undefined;
  }

  async #started(): Promise<AssetStore> {
    this.#starting ??= Promise.resolve(this.#store.start?.());
    await this.#starting;
    return this.#store;
  }
}

/** The store of a command without the place of the artifacts: everything except artifacts works. */
export class UnknownArtifactStore implements AssetStore {
  put(): Promise<never> {
    return this.#refuse();
  }

  open(): Promise<never> {
    return this.#refuse();
  }

  delete(): Promise<never> {
    return this.#refuse();
  }

  async #refuse(): Promise<never> {
    throw new ScenepressError(
      'storage_failed',
      'This needs the artifacts: set --s3-bucket (SCENEPRESS_S3_BUCKET) or --artifact-dir (SCENEPRESS_ARTIFACT_DIR) ' +
        'as for the servers.',
    );
  }
}
