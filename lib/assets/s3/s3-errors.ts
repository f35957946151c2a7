import { ScenepressError } from '../../errors.ts';

/** The common properties of errors of the SDK. */
interface Failure {
  name?: string;
  message?: string;
  code?: string;
  $metadata?: { httpStatusCode?: number; attempts?: number };
}

const RETRY_AFTER_MS = 5_000;

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

/** Advice, by the name or the code of an error. */
const ADVICE: Record<string, string> = {
  AuthorizationHeaderMalformed: 'Set `region` to the region of the bucket.',
  CredentialsProviderError:
    'Give `credentials`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, an AWS profile or a role of the machine.',
  ENOTFOUND: 'Check `endpoint`; a server without a host name for each bucket needs `pathStyle: true`.',
  ExpiredToken: 'The credentials have expired: renew them.',
  InvalidAccessKeyId: 'Correct `credentials`: the server does not know this access key.',
  NoSuchBucket: 'Create the bucket, or correct `bucket`.',
  NotImplemented: 'A server that does not support checksums of whole objects needs `checksums: false`.',
  PermanentRedirect: 'Set `region` to the region of the bucket.',
  RequestTimeTooSkewed: 'Set the clock of this machine.',
  SignatureDoesNotMatch: 'Correct the secret of `credentials`, and check that no proxy changes requests.',
};
const UNTRUSTED = /^(?:DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_|ERR_TLS_)/;

/** True when the object does not exist. */
export function isMissing(error: unknown): boolean {
  const { name, $metadata } = error as Failure;
  return $metadata?.httpStatusCode === 404 && name !== 'NoSuchBucket';
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

/** False when the server rejects the request itself, which it would do again. */
function isTemporary(failure: Failure): boolean {
  const status = failure.$metadata?.httpStatusCode;
  if (status === undefined) return true; // The network, or no credentials.
  const isMisconfigured = status === 401 || status === 403 || status === 404;
  return (
    isMisconfigured ||
    status === 408 ||
    status === 429 ||
    (status >= 500 && status !== 501) ||
    failure.name === 'ExpiredToken' ||
    isCorrupted(failure)
  );
}

function reasonOf({ name, code, message = '', $metadata }: Failure): string {
  const status = $metadata?.httpStatusCode;
  const attempts = $metadata?.attempts ?? 1;
  const tried = attempts > 1 ? ` (${attempts} attempts)` : '';
  if (status === undefined) return `${code ?? name ?? 'error'}${tried}: ${message.replace(/\.$/, '')}`;
  // Responses to HEAD requests have no body, so the SDK knows no more than the status.
  const known = /^(?:Unknown|UnknownError|\d+)$/.test(name ?? '') ? '' : ` ${name}`;
  const detail = message === '' || message === name || known === '' ? '' : ` (${message.replace(/\.$/, '')})`;
  return `S3 answered ${status}${known}${detail}${tried}`;
}

function adviceOn({ name = '', code = '', $metadata }: Failure): string {
  const known = ADVICE[name] ?? ADVICE[code];
  if (known !== undefined) return known;
  if (UNTRUSTED.test(code)) return 'Give the certificate authority of the server as `ca`.';
  switch ($metadata?.httpStatusCode) {
    case 301:
    case 307:
      return ADVICE['PermanentRedirect'] ?? '';
    case 401:
    case 403:
      return `Check \`credentials\`, and that they permit ${PERMISSIONS} for the bucket and its objects.`;
    case 404:
      return ADVICE['NoSuchBucket'] ?? '';
    case 400:
    case 501:
      return 'Check `region`, `endpoint`, `encryption` and `checksums`.';
    default:
      return 'Check that the server is up and reachable from this machine, then try again.';
  }
}
