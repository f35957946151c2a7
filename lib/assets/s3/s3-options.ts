import type { Clock } from '../../time/clock.ts';

/** An access key of S3. The SDK takes what else its providers of credentials tell. */
export interface S3Credentials {
  /** Not secret. */
  accessKeyId: string;
  /** Signs requests; is not sent. */
  secretAccessKey: string;
  /** The token of temporary credentials. */
  sessionToken?: string;
  /** When a function's credentials expire: it is called again before. Default: it is called for each request. */
  expiration?: Date;
}

/** Encryption by the server. With `aws:kms`, `keyId` is the key's id or ARN; default: the account's key for S3. */
export type S3Encryption =
  | { algorithm: 'AES256' }
  | { algorithm: 'aws:kms' | 'aws:kms:dsse'; keyId?: string; bucketKey?: boolean };

/** Options of {@link s3}. */
export interface S3Options {
  /** The name of an existing bucket. */
  bucket: string;
  /** Prepended to the key of each object, such as `renders/`; default: none. */
  prefix?: string;
  /** Default: `AWS_REGION` or that of the AWS profile; with an `endpoint`, at last `us-east-1`. */
  region?: string;
  /** The URL of a server other than AWS, such as `https://s3.example.org`. */
  endpoint?: string;
  /** Whether the bucket is part of the path instead of the host name. Default: with an `endpoint`. */
  pathStyle?: boolean;
  /** Default: those that AWS tools find: environment, profile, or role of the machine. */
  credentials?: S3Credentials | (() => Promise<S3Credentials>);
  /** Additional trusted certificate authorities (PEM). */
  ca?: string | readonly string[];
  /** Base URL under which anyone can read the bucket, such as that of a CDN; for {@link S3AssetStore.artifactUrl}. */
  publicUrl?: string;
  /** Default: as configured for the bucket. */
  encryption?: S3Encryption;
  /**
   * CRC-32 checksums of whole objects, which the server verifies and stores, and which are verified on reading.
   * Default: true. False for servers that reject them; bodies of requests are then protected by their signatures only.
   */
  checksums?: boolean;
  /** Milliseconds without any byte sent or received after which a request is aborted, and repeated once; default 30 s. */
  timeoutMs?: number;
  /** How often a request is made while the server is unreachable or answers 429 or 5xx; default 6, within some 10 s. */
  attempts?: number;
  /**
   * Size of a part. Larger files are uploaded in parts, four at a time, each of them held in memory. Default 8 MiB; S3
   * accepts 5 MiB to 5 GiB.
   */
  partBytes?: number;
  /** Default: the system's. */
  clock?: Clock;
}

/** Options of {@link S3AssetStore.presign}. */
export interface PresignOptions {
  /** Milliseconds until the link expires; default one hour, at most seven days. Not beyond the credentials' own end. */
  expiresInMs?: number;
}
