import { randomBytes } from 'node:crypto';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { type S3AssetStore, type S3Options, s3 } from '../../../lib/assets/s3/index.ts';
import { assetStoreSuite } from '../../../lib/testing/index.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { type FaultyProxy, faultyProxy } from '../../fixtures/faulty-proxy.ts';
import { noS3Server, s3Server } from '../../fixtures/s3-server/s3-server.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const MB = 1024 * 1024;
const KEY = 'job-1/video.mp4';
const VIDEO = { contentType: 'video/mp4' };
let stores = 0;

const test = (title: string, run: (t: Test) => Promise<void>) => t.test(title, { skip: noS3Server }, run);
const server = noS3Server ? (undefined as never) : await s3Server(t);

/** A started store with a prefix of its own. */
async function openStore(t: Test, options: Partial<S3Options> = {}): Promise<S3AssetStore> {
  const store = s3({ ...server.options, prefix: `store ${stores++}/`, ...options });
  await store.start();
  t.teardown(() => store.stop());
  return store;
}

/** A store behind a proxy that spoils exchanges, with few attempts. */
async function behindProxy(t: Test, options: Partial<S3Options> = {}) {
  const proxy = await faultyProxy(t, server.url);
  const store = await openStore(t, { endpoint: proxy.url, attempts: 3, partBytes: 5 * MB, ...options });
  proxy.seen.length = 0;
  return { proxy, store };
}

async function file(t: Test, content: string | Uint8Array) {
  const path = join(testFolder(t), 'file');
  await writeFile(path, content);
  return { path, ...VIDEO };
}

async function read(store: S3AssetStore, range?: { start: number; end: number }): Promise<Buffer> {
  const opened = await store.open(KEY, range);
  return opened ? buffer(opened.stream) : Buffer.from('missing');
}

/** Spoils the first requests that match. */
function spoil(
  proxy: FaultyProxy,
  method: string,
  times: number,
  fault: Parameters<typeof always>[2],
  path = /./,
) {
  let left = times;
  proxy.faultOf = (seen) =>
    seen.method === method && path.test(seen.path) && left-- > 0 ? fault : undefined;
}

function always(proxy: FaultyProxy, method: string, fault: NonNullable<ReturnType<FaultyProxy['faultOf']>>) {
  spoil(proxy, method, Number.POSITIVE_INFINITY, fault);
}

/** The uploads in parts that were begun and neither completed nor aborted. */
async function unfinished(): Promise<string[]> {
  const { ListMultipartUploadsCommand, S3Client } = await import('@aws-sdk/client-s3');
  const { endpoint, credentials, bucket } = server.options;
  const client = new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: credentials as { accessKeyId: string; secretAccessKey: string },
  });
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  client.destroy();
  return Uploads.map(({ Key = '' }) => Key);
}

/** Begins uploads as processes that are killed do: neither the parts nor the abort arrive. */
async function leaveUploads(
  t: Test,
  { proxy, store }: { proxy: FaultyProxy; store: S3AssetStore },
  count: number,
) {
  proxy.faultOf = ({ method }) => (['PUT', 'DELETE'].includes(method) ? { answer: 503 } : undefined);
  const source = await file(t, randomBytes(6 * MB));
  for (let left = count; left > 0; left--) await t.rejects(store.put(KEY, source));
  proxy.faultOf = () => undefined;
  t.equal((await unfinished()).length, count);
}

test('an S3 asset store behaves as every asset store', async (t) => {
  const suite = assetStoreSuite(async () => {
    const subject = s3({ ...server.options, prefix: `suite ${stores++}/` });
    await subject.start();
    return { subject, close: () => subject.stop() };
  });
  for (const { title, run } of suite) await t.test(title, run);
});

test('a file larger than a part is uploaded in parts, with checksums of all of it', async (t) => {
  const { proxy, store } = await behindProxy(t);
  const content = randomBytes(12 * MB);
  t.same(await store.put(KEY, await file(t, content)), { sizeBytes: content.length });
  t.equal(proxy.seen.filter(({ method, path }) => method === 'PUT' && /partNumber=/.test(path)).length, 3);
  const complete = proxy.seen.findLast(({ method }) => method === 'POST');
  t.match(complete?.headers, { 'x-amz-checksum-crc32': /^\S{6}==$/, 'x-amz-checksum-type': 'FULL_OBJECT' });
  t.ok((await read(store)).equals(content));
  const part = { start: 5 * MB - 3, end: 5 * MB + 3 };
  t.ok((await read(store, part)).equals(content.subarray(part.start, part.end + 1)));
  t.same(await unfinished(), []);
});

test('a server that rejects checksums can be used without them', async (t) => {
  const body = '<Error><Code>NotImplemented</Code><Message>Not implemented.</Message></Error>';
  const withoutChecksums = async (options: Partial<S3Options>) => {
    const { proxy, store } = await behindProxy(t, options);
    proxy.faultOf = ({ headers }) =>
      Object.keys(headers).some((name) => /checksum|trailer/.test(name)) ? { answer: 501, body } : undefined;
    return store;
  };
  const refused = await withoutChecksums({});
  await t.rejects(refused.put(KEY, await file(t, 'x')), { message: /--s3-checksums false/ });
  const store = await withoutChecksums({ checksums: false });
  for (const content of [randomBytes(1000), randomBytes(12 * MB)]) {
    t.same(await store.put(KEY, await file(t, content)), { sizeBytes: content.length });
    t.ok((await read(store)).equals(content));
  }
  await store.delete(KEY);
  t.equal(await store.open(KEY), undefined);
});

test('an empty file, and keys that lead elsewhere', async (t) => {
  const store = await openStore(t);
  t.same(await store.put(KEY, await file(t, '')), { sizeBytes: 0 });
  t.equal((await read(store)).length, 0);
  for (const key of ['../x/y.mp4', '/etc/passwd', 'a/b/c.mp4', '']) {
    await t.rejects(store.open(key), { code: 'ERR_ASSERTION' }, key);
  }
  await t.rejects(store.put(KEY, { path: t.testdirName, ...VIDEO }), /not a regular file/);
  await symlink('file', join(t.testdirName, 'link'));
  await t.rejects(store.put(KEY, { path: join(t.testdirName, 'link'), ...VIDEO }), { code: 'ELOOP' });
});

test('objects are encrypted by the server as the options say', async (t) => {
  const aes = await behindProxy(t, { encryption: { algorithm: 'AES256' } });
  // The test server supports no encryption; what counts is what it is asked for.
  await aes.store.put(KEY, await file(t, 'x')).catch(() => {});
  t.match(aes.proxy.seen[0]?.headers, { 'x-amz-server-side-encryption': 'AES256' });
  const encryption = { algorithm: 'aws:kms', keyId: 'key-7', bucketKey: true } as const;
  const kms = await behindProxy(t, { encryption });
  await kms.store.put(KEY, await file(t, randomBytes(6 * MB))).catch(() => {});
  t.match(kms.proxy.seen[0], {
    method: 'POST',
    headers: {
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'key-7',
      'x-amz-server-side-encryption-bucket-key-enabled': 'true',
    },
  });
});

test('503 and cut connections are tried again', async (t) => {
  const { proxy, store } = await behindProxy(t);
  const content = randomBytes(6 * MB);
  const source = await file(t, content);
  spoil(proxy, 'PUT', 2, { answer: 503 });
  await store.put(KEY, source);
  spoil(proxy, 'PUT', 2, { cutRequestAt: MB });
  await store.put(KEY, source);
  spoil(proxy, 'POST', 1, { answer: 503 }, /uploadId=/);
  await store.put(KEY, source);
  spoil(proxy, 'GET', 2, { answer: 503 });
  t.ok((await read(store)).equals(content));
  spoil(proxy, 'DELETE', 2, { answer: 503 });
  await store.delete(KEY);
  t.same(await unfinished(), []);
});

test('an upload that fails for good is aborted, and its error says what to do', async (t) => {
  const { proxy, store } = await behindProxy(t);
  const source = await file(t, randomBytes(6 * MB));
  for (const fault of [{ answer: 503 }, { cutRequestAt: MB }, { flip: 'request' }] as const) {
    always(proxy, 'PUT', fault);
    await t.rejects(
      store.put(KEY, source),
      { code: 'storage_failed', retryAfterMs: 5000 },
      JSON.stringify(fault),
    );
    t.same(await unfinished(), []);
    t.equal(await store.open(KEY), undefined);
  }
  always(proxy, 'PUT', { answer: 503 });
  await t.rejects(store.put(KEY, source), {
    message:
      /^The object .*job-1\/video\.mp4 could not be written to the bucket renders: S3 answered 503 SlowDown \(.*\) \(3 attempts\)\. Check that the server/,
  });
});

test('an upload whose completion is confirmed too late is complete', async (t) => {
  const { proxy, store } = await behindProxy(t);
  const content = randomBytes(6 * MB);
  spoil(proxy, 'POST', 1, { lose: 'response' }, /uploadId=/);
  await store.put(KEY, await file(t, content));
  t.ok((await read(store)).equals(content));
});

test('bytes that are changed on their way to the server are sent again', async (t) => {
  const { proxy, store } = await behindProxy(t);
  for (const size of [100, 6 * MB]) {
    const content = randomBytes(size);
    spoil(proxy, 'PUT', 2, { flip: 'request' });
    await store.put(KEY, await file(t, content));
    t.ok((await read(store)).equals(content));
  }
});

test('a response that ends early is continued', async (t) => {
  const { proxy, store } = await behindProxy(t);
  const content = randomBytes(6 * MB);
  await store.put(KEY, await file(t, content));
  proxy.seen.length = 0;
  spoil(proxy, 'GET', 2, { cutResponseAt: MB });
  t.ok((await read(store)).equals(content));
  t.equal(proxy.seen.length, 3);
  t.match(proxy.seen[1]?.headers, { range: `bytes=${MB}-${6 * MB - 1}`, 'if-match': /./ });
  spoil(proxy, 'GET', 2, { cutResponseAt: MB });
  t.ok((await read(store, { start: 10, end: 3 * MB })).equals(content.subarray(10, 3 * MB + 1)));
  always(proxy, 'GET', { cutResponseAt: 0 });
  await t.rejects(read(store), { code: 'storage_failed', retryAfterMs: 5000, message: /could not be read/ });
});

test('an object that is removed or replaced while it is read is not mixed', async (t) => {
  const { proxy, store } = await behindProxy(t);
  await store.put(KEY, await file(t, randomBytes(6 * MB)));
  for (const change of [() => store.delete(KEY), () => writeOther()]) {
    spoil(proxy, 'GET', 1, { cutResponseAt: MB });
    const opened = await store.open(KEY);
    if (!opened) throw new Error('missing');
    await change();
    await t.rejects(buffer(opened.stream), { code: /artifact_gone|storage_failed/ });
    await writeOther();
  }
  async function writeOther() {
    await store.put(KEY, await file(t, randomBytes(6 * MB)));
  }
});

test('bytes that are changed on their way from the server are not passed off as the object', async (t) => {
  const { proxy, store } = await behindProxy(t);
  const content = randomBytes(MB);
  await store.put(KEY, await file(t, content));
  always(proxy, 'GET', { flip: 'response' });
  const opened = await store.open(KEY);
  let readBytes = 0;
  const reading = (async () => {
    for await (const chunk of opened?.stream ?? []) readBytes += chunk.length;
  })();
  await t.rejects(reading, { code: 'storage_failed', message: /checksum/ });
  t.ok(readBytes < content.length, 'the last bytes are held back');
});

test('a server that does not answer is given up after the time-out', async (t) => {
  const { proxy, store } = await behindProxy(t, { timeoutMs: 300, attempts: 2 });
  await store.put(KEY, await file(t, 'x'));
  spoil(proxy, 'GET', 1, { stall: true });
  t.equal(String(await read(store)), 'x');
  always(proxy, 'GET', { stall: true });
  await t.rejects(store.open(KEY), { code: 'storage_failed', retryAfterMs: 5000, message: /TimeoutError/ });
});

test('a request to a server that does not answer is repeated once', async (t) => {
  const { proxy, store } = await behindProxy(t, { timeoutMs: 300, attempts: 6 });
  always(proxy, 'GET', { stall: true });
  await t.rejects(store.open(KEY), { message: /TimeoutError/ });
  t.equal(proxy.seen.length, 2);
});

test('a stream that is destroyed before it is read closes its connection', async (t) => {
  const { proxy, store } = await behindProxy(t);
  await store.put(KEY, await file(t, randomBytes(16 * MB)));
  const opened = await store.open(KEY);
  opened?.stream.destroy();
  t.equal(await proxy.seen.at(-1)?.completed, false);
});

test('a 404 of a proxy does not mean that an object is missing', async (t) => {
  const { proxy, store } = await behindProxy(t, { attempts: 1 });
  await store.put(KEY, await file(t, 'x'));
  const uses: [method: string, use: () => Promise<unknown>][] = [
    ['GET', () => store.open(KEY)],
    ['DELETE', () => store.delete(KEY)],
  ];
  for (const [method, use] of uses) {
    always(proxy, method, { answer: 404, body: '404 page not found' });
    await t.rejects(use(), { code: 'storage_failed', retryAfterMs: 5000, message: /S3 answered 404/ });
  }
  proxy.faultOf = () => undefined;
  t.equal(String(await read(store)), 'x');
});

test('an object of unknown size is not read as an empty one', async (t) => {
  const { proxy, store } = await behindProxy(t);
  await store.put(KEY, await file(t, 'x'));
  always(proxy, 'GET', { unmeasured: true });
  await t.rejects(store.open(KEY), { code: 'storage_failed', message: /has no Content-Length/ });
});

test('a stream that is destroyed, or a call that is aborted, ends its requests', async (t) => {
  const { proxy, store } = await behindProxy(t, { timeoutMs: 60_000 });
  await store.put(KEY, await file(t, randomBytes(2 * MB)));
  always(proxy, 'GET', { stallResponseAt: MB });
  const opened = await store.open(KEY);
  for await (const _ of opened?.stream ?? []) break;
  t.equal(await proxy.seen.at(-1)?.completed, false);

  proxy.seen.length = 0;
  const asked = Promise.withResolvers<void>();
  proxy.faultOf = () => {
    asked.resolve();
    return { stall: true };
  };
  const aborting = new AbortController();
  const opening = t.rejects(store.open(KEY, undefined, { signal: aborting.signal }), {
    name: 'AbortError',
  });
  await asked.promise;
  aborting.abort();
  await opening;
  t.equal(await proxy.seen[0]?.completed, false);
  t.equal(proxy.seen.length, 1, 'none is repeated');
});

test('requests are repeated also after an outage', async (t) => {
  const { proxy, store } = await behindProxy(t, { attempts: 2 });
  await store.put(KEY, await file(t, 'x'));
  always(proxy, 'GET', { answer: 503 });
  const outage = await Promise.allSettled(Array.from({ length: 120 }, () => store.open(KEY)));
  t.ok(outage.every(({ status }) => status === 'rejected'));
  spoil(proxy, 'GET', 1, { answer: 503 });
  t.equal(String(await read(store)), 'x');
});

test('an upload is complete even if the response to its completion cannot be read', async (t) => {
  const { proxy, store } = await behindProxy(t);
  const content = randomBytes(6 * MB);
  for (const body of ['', '<?xml version="1.0"?><CompleteMultipartUploadRes']) {
    spoil(proxy, 'POST', 1, { garble: body }, /uploadId=/);
    await store.put(KEY, await file(t, content));
    t.ok((await read(store)).equals(content));
    await store.delete(KEY);
  }
});

test('links and the age of uploads follow the clock of the server', async (t) => {
  const { proxy, store } = await behindProxy(t);
  const prefix = `store ${stores - 1}/`;
  await leaveUploads(t, { proxy, store }, 1);
  for (const hours of [-3, 30]) {
    await t.test(`${hours} hours`, async (t) => {
      const { now } = Date;
      t.intercept(Date, 'now', { value: () => now() + hours * 3_600_000 });
      const skewed = await openStore(t, { prefix });
      await skewed.put(KEY, await file(t, 'x'));
      const response = await fetch(await skewed.presign(KEY));
      t.equal(response.status, 200);
      t.equal(await response.text(), 'x');
      t.equal((await unfinished()).length, 1);
    });
  }
  const clock = new FakeClock(new Date(Date.now() + 25 * 3_600_000).toISOString());
  await openStore(t, { prefix, clock });
  t.same(await unfinished(), []);
});

test('old uploads are found on all pages, and those that another process aborts are skipped', async (t) => {
  const { proxy, store } = await behindProxy(t);
  const prefix = `store ${stores - 1}/`;
  await leaveUploads(t, { proxy, store }, 2);
  const page = `<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>
    <NextKeyMarker>a</NextKeyMarker></ListMultipartUploadsResult>`;
  const gone = '<Error><Code>NoSuchUpload</Code></Error>';
  let [lists, aborts] = [0, 0];
  proxy.faultOf = ({ method, path }) => {
    if (method === 'GET' && /[?&]uploads/.test(path) && lists++ === 0) return { answer: 200, body: page };
    return method === 'DELETE' && aborts++ === 0 ? { answer: 404, body: gone } : undefined;
  };
  const clock = new FakeClock(new Date(Date.now() + 25 * 3_600_000).toISOString());
  await openStore(t, { endpoint: proxy.url, prefix, clock });
  t.same([lists, aborts], [2, 2]);
  t.equal((await unfinished()).length, 1);
  await openStore(t, { prefix, clock });
  t.same(await unfinished(), []);
});

test('uploads that a killed process left are aborted by a start a day later', async (t) => {
  await leaveUploads(t, await behindProxy(t), 1);
  const hours = 3_600_000;
  for (const [laterMs, left] of [
    [23 * hours, 1],
    [25 * hours, 0],
  ] as const) {
    const clock = new FakeClock(new Date(Date.now() + laterMs).toISOString());
    const other = s3({ ...server.options, prefix: 'elsewhere/', clock });
    await other.start();
    await other.stop();
    t.equal((await unfinished()).length, 1, 'those of other prefixes stay');
    const similar = s3({ ...server.options, prefix: 'stor', clock });
    await similar.start();
    await similar.stop();
    t.equal((await unfinished()).length, 1, 'those of other programs stay');
    const same = s3({ ...server.options, prefix: `store ${stores - 1}/`, clock });
    await same.start();
    await same.stop();
    t.equal((await unfinished()).length, left);
  }
});

test('a presigned link can be read by anyone until it expires', async (t) => {
  const store = await openStore(t);
  await store.put(KEY, await file(t, '0123456789'));
  const link = await store.presign(KEY, { expiresInMs: 60_000 });
  const response = await fetch(link, { headers: { range: 'bytes=2-4' } });
  t.equal(response.status, 206);
  t.equal(await response.text(), '234');
  t.match(Object.fromEntries(response.headers), {
    'content-type': 'video/mp4',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  const changed = await fetch(link.replace('video.mp4', 'other.mp4'));
  t.equal(changed.status, 403);
  await changed.text();
  const clock = new FakeClock(new Date(Date.now() - 61_000).toISOString());
  const early = await openStore(t, { prefix: `store ${stores - 1}/`, clock });
  const expired = await fetch(await early.presign(KEY, { expiresInMs: 60_000 }));
  t.equal(expired.status, 403);
  t.match(await expired.text(), /expired/i);
  await t.rejects(store.presign(KEY, { expiresInMs: 8 * 86_400_000 }), { code: 'ERR_ASSERTION' });
});

test('links below a public URL', async (t) => {
  const artifact = { jobId: 'job', owner: 'ada', name: 'video.mp4', assetKey: KEY } as const;
  const store = s3({ bucket: 'b', prefix: 'my renders/', publicUrl: 'https://cdn.example.org/' });
  t.equal(store.artifactUrl(artifact), 'https://cdn.example.org/my%20renders/job-1/video.mp4');
  t.throws(() => s3({ bucket: 'b' }).artifactUrl(artifact), { code: 'ERR_ASSERTION' });
});

test('a start names what is wrong and what to do', async (t) => {
  const failures: [Partial<S3Options>, RegExp][] = [
    [
      { bucket: 'nothing-here' },
      /The bucket nothing-here can't be used: S3 answered 404 NoSuchBucket .*Create the bucket/,
    ],
    [
      { credentials: { accessKeyId: 'tests', secretAccessKey: 'wrong' } },
      /S3 answered 403 SignatureDoesNotMatch .*Correct the secret of `credentials`/,
    ],
    [
      { credentials: { accessKeyId: 'nobody', secretAccessKey: 'wrong' } },
      /S3 answered 404 XAdminUserNotFound .*Correct `credentials`.*does not know this access key/,
    ],
    [
      { endpoint: 'http://127.0.0.1:1', attempts: 2 },
      /ECONNREFUSED \(2 attempts\).*Check that the server is up/,
    ],
    [{ endpoint: 'http://nowhere.invalid', attempts: 1 }, /ENOTFOUND|EAI_AGAIN/],
  ];
  for (const [options, message] of failures) {
    const store = s3({ ...server.options, ...options });
    await t.rejects(store.start(), { code: 'storage_failed', message }, String(message));
  }
  await t.rejects(s3({ ...server.options, ca: 'nonsense' }).start(), { code: 'invalid_request' });
});

test('a server with a certificate of its own authority', async (t) => {
  const folder = testFolder(t);
  const authority = new TestAuthority(folder);
  const { cert, key } = authority.issue(['127.0.0.1']);
  const certFile = join(folder, 'server.pem');
  const keyFile = join(folder, 'server.key');
  await writeFile(certFile, cert);
  await writeFile(keyFile, key);
  const { options } = await s3Server(t, { certFile, keyFile });
  await t.rejects(s3({ ...options, attempts: 1 }).start(), {
    message: /Give the certificate authority.*`ca`/,
  });
  const store = s3({ ...options, ca: authority.ca });
  await store.start();
  t.teardown(() => store.stop());
  const source = join(folder, 'video');
  await writeFile(source, '0123456789');
  await store.put(KEY, { path: source, ...VIDEO });
  t.equal(String(await read(store, { start: 2, end: 4 })), '234');
});
