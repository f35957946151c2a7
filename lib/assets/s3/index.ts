/** Artifacts in a bucket of S3 or of a compatible server. */
import '../../base/node-version.ts';
import '../../base/bundled.ts';

export { S3AssetStore, s3 } from './s3-asset-store.ts';
export type { PresignOptions, S3Credentials, S3Encryption, S3Options } from './s3-options.ts';
