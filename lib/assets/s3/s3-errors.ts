import { ScenepressError } from '../../base/errors.ts';

/** The common properties of errors of the SDK. */
interface Failure {
  name?: string;
  message?: string;
  code?: string;
  $metadata?: { httpStatusCode?: number; attempts?: number };
}

const RETRY_AFTER_MS = 5_000;

/** Errors of requests that can never succeed. */
const NEVER = new Set([
  'EntityTooLarge',
  'EntityTooSmall',
  'InvalidArgument',
  'InvalidPart',
  'InvalidPartOrder',
  'InvalidRequest',
  'KeyTooLongError',
  'MalformedXML',
  'MetadataTooLarge',
  'MethodNotAllowed',
  'NotImplemented',
]);

/** Errors about the bytes of a request: they were changed on the way. */
const CORRUPTED = new Set([
  'BadDigest',
  'ChecksumMismatch',
  'IncompleteBody',
  'InvalidDigest',
  'XAmzContentChecksumMismatch',
  'XAmzContentSHA256Mismatch',
]);

const PERMISSIONS =
  's3:GetObject, s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload, s3:ListBucket and s3:ListBucketMultipartUploads';

/** Options of the store, and those of the command line that set them. */
const BUCKET = '`bucket` (--s3-bucket)';
const REGION = '`region` (--s3-region)';
const ENDPOINT = '`endpoint` (--s3-endpoint)';
const PATH_STYLE = '`pathStyle: true` (--s3-path-style)';
const CREDENTIALS = '`credentials` (--s3-access-key-id and SCENEPRESS_S3_SECRET_ACCESS_KEY)';
const CHECKSUMS = '`checksums` (--s3-checksums)';
const ENCRYPTION = '`encryption` (--s3-encryption and --s3-kms-key-id)';

const UNKNOWN_KEY = `Correct ${CREDENTIALS}: the server does not know this access key.`;

/** Advice, by the name or the code of an error. */
const ADVICE: Record<string, string> = {
  AuthorizationHeaderMalformed: `Set ${REGION} to the region of the bucket.`,
  CredentialsProviderError: `Give ${CREDENTIALS}, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, an AWS profile or a role of the machine.`,
  ENOTFOUND: `Check ${ENDPOINT}; a server without a host name for each bucket needs ${PATH_STYLE}.`,
  ExpiredToken: 'The credentials have expired: renew them.',
  InvalidAccessKeyId: UNKNOWN_KEY,
  InvalidToken: 'The credentials have expired: renew them.',
  NoSuchBucket: `Create the bucket, or correct ${BUCKET}.`,
  NotImplemented:
    'A server that does not support checksums of whole objects needs `checksums: false` (--s3-checksums false).',
  PermanentRedirect: `Set ${REGION} to the region of the bucket.`,
  RequestTimeTooSkewed: 'Set the clock of this machine.',
  RequestTimeout: 'Check the network between this machine and the server.',
  SignatureDoesNotMatch: `Correct the secret of ${CREDENTIALS}, and check that no proxy changes requests.`,
  TokenRefreshRequired: 'The credentials have expired: renew them.',
  // versitygw, with 404.
  XAdminUserNotFound: UNKNOWN_KEY,
};
/** As {@link ADVICE}, for groups of errors. */
const ADVICE_ON_GROUPS: [pattern: RegExp, advice: string][] = [
  [
    /^(?:DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_|ERR_TLS_)/,
    'Give the certificate authority of the server as `ca` (--s3-ca).',
  ],
  [/Quota|StorageFull/, 'Free space in the bucket, or raise its quota.'],
  [/^KMS\./, `Check the key of ${ENCRYPTION}.`],
];

/**
 * True when S3 says that the object does not exist. Any other 404 may come from a proxy whose server is down.
 */
export function isMissing(error: unknown): boolean {
  return (error as Failure).name === 'NoSuchKey';
}

/** True when the bytes of a request did not arrive as they were sent, so that sending them again may help. */
export function isCorrupted(error: unknown): boolean {
  return CORRUPTED.has((error as Failure).name ?? '');
}

/**
 * The error for a failed operation: `storage_failed`, with `retryAfterMs` unless the request itself was rejected.
 * `action` is a sentence without a full stop, such as `The bucket renders could not be read`.
 */
export function failureOf(action: string, error: unknown): ScenepressError {
  if (error instanceof ScenepressError) return error;
  const failure = error as Failure;
  const temporary = isTemporary(failure);
  const text = `${action}: ${reasonOf(failure)}. ${adviceOn(failure)}`;
  return new ScenepressError('storage_failed', text, {
    cause: error,
    ...(temporary && { retryAfterMs: RETRY_AFTER_MS }),
  });
}

/** False when the server rejects the request itself, which it would do again. Unknown errors count as temporary. */
function isTemporary({ name = '', $metadata }: Failure): boolean {
  const status = $metadata?.httpStatusCode;
  return !NEVER.has(name) && status !== 405 && status !== 413 && status !== 501;
}

function reasonOf({ name, code, message = '', $metadata }: Failure): string {
  const status = $metadata?.httpStatusCode;
  const attempts = $metadata?.attempts ?? 1;
  const tried = attempts > 1 ? ` (${attempts} attempts)` : '';
  if (status === undefined) return `${code ?? name ?? 'error'}${tried}: ${message.replace(/\.$/, '')}`;
  // Responses to HEAD requests have no body, so the SDK knows no more than the status.
  const known = /^(?:Unknown|UnknownError|NotFound|\d+)$/.test(name ?? '') ? '' : ` ${name}`;
  const detail = message === '' || message === name || known === '' ? '' : ` (${message.replace(/\.$/, '')})`;
  return `S3 answered ${status}${known}${detail}${tried}`;
}

function adviceOn({ name = '', code = '', $metadata }: Failure): string {
  const ofGroup = ADVICE_ON_GROUPS.find(([pattern]) => pattern.test(name) || pattern.test(code));
  const known = ADVICE[name] ?? ADVICE[code] ?? ofGroup?.[1];
  if (known !== undefined) return known;
  switch ($metadata?.httpStatusCode) {
    case 301:
    case 307:
      return ADVICE['PermanentRedirect'] ?? '';
    case 401:
    case 403:
      return `Check ${CREDENTIALS}, and that they permit ${PERMISSIONS} for the bucket and its objects.`;
    case 404:
      return `Create the bucket, or correct ${BUCKET} and ${ENDPOINT}; a proxy may also answer so while its server is away.`;
    case 400:
    case 501:
      return `Check ${REGION}, ${ENDPOINT}, ${ENCRYPTION} and ${CHECKSUMS}.`;
    default:
      return 'Check that the server is up and reachable from this machine, then try again.';
  }
}
