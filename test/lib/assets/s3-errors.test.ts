import t from 'tap';
import { failureOf, isMissing } from '../../../lib/assets/s3/s3-errors.ts';
import { ScenepressError } from '../../../lib/index.ts';

/** An error as the SDK raises it. */
function failure(name: string, status?: number, more: object = {}) {
  const metadata = status === undefined ? { attempts: 2 } : { httpStatusCode: status, attempts: 1 };
  return Object.assign(new Error('Details.'), { name, $metadata: metadata, ...more });
}

const failures: [error: Error, text: RegExp, isTemporary: boolean][] = [
  [failure('SlowDown', 503), /^X: S3 answered 503 SlowDown \(Details\)\. Check that the server is up/, true],
  [failure('TooManyRequests', 429), /Check that the server is up/, true],
  [
    failure('Error', undefined, { code: 'ECONNRESET' }),
    /^X: ECONNRESET \(2 attempts\): Details\. Check that/,
    true,
  ],
  [failure('TimeoutError'), /TimeoutError/, true],
  [
    failure('Error', undefined, { code: 'SELF_SIGNED_CERT_IN_CHAIN' }),
    /Give the certificate authority .* `ca` \(--s3-ca\)/,
    true,
  ],
  [
    failure('CredentialsProviderError'),
    /Give `credentials` \(--s3-access-key-id .*\), or set AWS_ACCESS_KEY_ID/,
    true,
  ],
  [failure('AccessDenied', 403), /Check `credentials`.*s3:ListBucketMultipartUploads/, true],
  [failure('SignatureDoesNotMatch', 403), /Correct the secret/, true],
  [failure('RequestTimeTooSkewed', 403), /Set the clock/, true],
  [failure('ExpiredToken', 400), /renew them/, true],
  [failure('BadDigest', 400), /BadDigest/, true],
  [failure('NoSuchBucket', 404), /Create the bucket/, true],
  [
    failure('NotFound', 404),
    /^X: S3 answered 404\. .* correct `bucket` \(--s3-bucket\) and `endpoint` \(--s3-endpoint\); a proxy may also/,
    true,
  ],
  [failure('PermanentRedirect', 301), /Set `region`/, true],
  [failure('UnknownError', 301), /^X: S3 answered 301\. Set `region` \(--s3-region\)/, true],
  [failure('RequestTimeout', 400), /Check the network/, true],
  [failure('XMinioAdminBucketQuotaExceeded', 400), /raise its quota/, true],
  [failure('KMS.DisabledException', 400), /the key of `encryption`/, true],
  [failure('OperationAborted', 409), /try again/, true],
  [failure('InvalidRequest', 400), /Check `region`/, false],
  [failure('EntityTooLarge', 400), /EntityTooLarge/, false],
  [failure('UnknownError', 413), /S3 answered 413/, false],
  [failure('NotImplemented', 501), /`checksums: false` \(--s3-checksums false\)/, false],
];
for (const [error, text, isTemporary] of failures) {
  t.test(`the error for ${error.name}`, async (t) => {
    const { code, message, cause, retryAfterMs } = failureOf('X', error);
    t.equal(code, 'storage_failed');
    t.match(message, text);
    t.equal(cause, error);
    t.equal(retryAfterMs, isTemporary ? 5000 : undefined);
  });
}

t.test('an error of the library stays as it is', async (t) => {
  const error = new ScenepressError('artifact_gone', 'removed');
  t.equal(failureOf('X', error), error);
});

t.test('only S3 says that an object is missing', async (t) => {
  t.ok(isMissing(failure('NoSuchKey', 404)));
  t.notOk(isMissing(failure('NotFound', 404)));
  t.notOk(isMissing(failure('NoSuchBucket', 404)));
  t.notOk(isMissing(failure('AccessDenied', 403)));
});
