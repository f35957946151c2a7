import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import tls from 'node:tls';
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { certificateAuthorities } from '../../base/certificate-authorities.ts';
import { ScenepressError } from '../../base/errors.ts';
import { installCommand } from '../../base/optional-package.ts';
import type { Clock } from '../../time/clock.ts';
import type { S3Options } from './s3-options.ts';
import { S3Retries } from './s3-retries.ts';

/** The module `@aws-sdk/client-s3`. */
export type Sdk = typeof import('@aws-sdk/client-s3');

/** The bucket that a store uses. */
export interface Bucket {
  sdk: Sdk;
  client: S3Client;
  /** Its name. */
  name: string;
  hasChecksums: boolean;
  /** How often a body is requested or sent again. */
  attempts: number;
}

const TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 5_000;
const ATTEMPTS = 6;

/** Loads the AWS SDK, an optional peer dependency. Error: `storage_failed` when it is not installed. */
export function loadSdk(): Promise<Sdk> {
  return import('@aws-sdk/client-s3').catch(notInstalled('@aws-sdk/client-s3'));
}

/** Loads the part of the SDK that signs links. */
export function loadPresigner(): Promise<typeof import('@aws-sdk/s3-request-presigner')> {
  return import('@aws-sdk/s3-request-presigner').catch(notInstalled('@aws-sdk/s3-request-presigner'));
}

function notInstalled(name: string) {
  return (cause: NodeJS.ErrnoException): never => {
    if (cause.code !== 'ERR_MODULE_NOT_FOUND' || !cause.message.includes(name)) throw cause;
    throw new ScenepressError(
      'storage_failed',
      `The S3 asset store needs the package ${name}, which is not installed. Run: ${installCommand(name)}`,
      { cause },
    );
  };
}

/**
 * The SDK keeps credentials that don't say when they expire: those of a function may have been changed since. It notes
 * their source in them: those that the caller gave stay as they are.
 */
function askedAgain(credentials: NonNullable<S3Options['credentials']>): typeof credentials {
  if (typeof credentials !== 'function') return { ...credentials };
  return async () => ({ expiration: new Date(0), ...(await credentials()) });
}

/** A client for these options. Error: `invalid_request` for a certificate authority that is not PEM. */
export function openBucket(sdk: Sdk, options: S3Options, clock: Clock): Bucket {
  const { bucket, endpoint, pathStyle, region, credentials, ca } = options;
  const { timeoutMs = TIMEOUT_MS, attempts = ATTEMPTS, checksums = true } = options;
  const needed = checksums ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED';
  const authorities = certificateAuthorities(ca, 'S3');
  const config: S3ClientConfig = {
    forcePathStyle: pathStyle ?? endpoint !== undefined,
    followRegionRedirects: true,
    maxAttempts: attempts,
    retryStrategy: new S3Retries({ attempts, timeoutMs }, clock),
    requestChecksumCalculation: needed,
    // Whole objects are verified by their reader, which may need several responses.
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: Math.min(timeoutMs, CONNECT_TIMEOUT_MS),
      socketTimeout: timeoutMs,
      // Without a limit on connections: slow readers of videos must not delay uploads.
      httpAgent: new HttpAgent({ keepAlive: true }),
      httpsAgent: new HttpsAgent({
        keepAlive: true,
        ...(authorities.length > 0 && { ca: [...tls.getCACertificates('default'), ...authorities] }),
      }),
    },
  };
  if (endpoint !== undefined) config.endpoint = endpoint;
  const known = region ?? (endpoint === undefined ? undefined : (process.env['AWS_REGION'] ?? 'us-east-1'));
  if (known !== undefined) config.region = known;
  if (credentials !== undefined) config.credentials = askedAgain(credentials);
  return { sdk, client: new sdk.S3Client(config), name: bucket, hasChecksums: checksums, attempts };
}
