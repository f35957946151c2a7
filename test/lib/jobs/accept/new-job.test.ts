import t from 'tap';
import { fingerprintOf, newJobOf } from '../../../../lib/jobs/accept/new-job.ts';

const scene = { owner: 'a', className: 'A', code: 'x' };
const code = 'invalid_request';

t.test('a request becomes a job with defaults', (t) => {
  const newJob = newJobOf(scene);
  t.match(newJob, { owner: 'a', request: { className: 'A', code: 'x', quality: String } });
  t.match(newJob, { metadataJson: null, webhookUrl: null, keyId: null, idempotency: null });
  t.notOk('webhookSecret' in newJob);
  t.equal(newJobOf({ ...scene, keyId: 'key' }).keyId, 'key');
  t.end();
});

t.test('an owner is a non-empty string', (t) => {
  for (const owner of ['', undefined, 1, 'a\0', 'a\ud800', 'é'.repeat(513)]) {
    t.throws(() => newJobOf({ ...scene, owner: owner as string }), { code, message: /^owner is/ });
  }
  t.equal(newJobOf({ ...scene, owner: 'é'.repeat(512) }).owner.length, 512);
  t.end();
});

t.test('a key id is a string that Postgres can store', (t) => {
  for (const keyId of [7, {}, true, 'k\0', 'k\ud800', 'k'.repeat(1025)]) {
    t.throws(() => newJobOf({ ...scene, keyId: keyId as string }), { code, message: /^keyId is/ });
  }
  for (const keyId of [null, undefined] as const) t.equal(newJobOf({ ...scene, keyId } as never).keyId, null);
  t.end();
});

t.test('a webhook has a URL and a secret', (t) => {
  const url = 'https://example.org/hook';
  const newJob = newJobOf({ ...scene, webhook: { url, secret: 's' } });
  t.match(newJob, { webhookUrl: url, webhookSecret: 's' });
  t.equal(newJobOf({ ...scene, webhookUrl: url }).webhookUrl, url);
  const none = newJobOf({ ...scene, webhook: { url: null as unknown as string, secret: 's' } });
  t.equal(none.webhookUrl, null);
  t.notOk('webhookSecret' in none);
  t.throws(() => newJobOf({ ...scene, webhook: { url: 'http://example.org', secret: 's' } }), { code });
  for (const secret of ['', undefined, 1]) {
    const webhook = { url, secret: secret as string };
    t.throws(() => newJobOf({ ...scene, webhook }), { code, message: /^webhook\.secret is/ });
  }
  t.end();
});

t.test('metadata is a JSON value, or JSON text that is kept as it is', (t) => {
  const textOf = (metadata: object) => newJobOf({ ...scene, ...metadata }).metadataJson;
  t.equal(textOf({ metadata: { a: [1] } }), '{"a":[1]}');
  t.equal(textOf({ metadata: null }), 'null');
  t.equal(textOf({ metadata: undefined }), null);
  t.equal(textOf({ metadataJson: ' 1.0' }), ' 1.0');
  t.equal(textOf({ metadataJson: null, metadata: 1 }), null);
  t.throws(() => textOf({ metadataJson: '{' }), { code, message: 'metadataJson must be JSON text' });
  t.throws(() => textOf({ metadataJson: '' }), { code, message: 'metadataJson must be JSON text' });
  t.throws(() => textOf({ metadata: 1n }), {
    code,
    message: 'metadata must be a JSON value',
    cause: TypeError,
  });
  t.end();
});

t.test('an idempotency key identifies the request by its content', (t) => {
  const { idempotency: _, ...newJob } = newJobOf(scene);
  const own = newJobOf({ ...scene, idempotency: { key: 'k' } }).idempotency;
  t.same(own, { key: 'k', fingerprint: fingerprintOf(newJob) });
  const given = newJobOf({ ...scene, idempotency: { key: 'k', fingerprint: 'f' } }).idempotency;
  t.same(given, { key: 'k', fingerprint: 'f' });
  const webhook = { url: 'https://example.org/', secret: 's' };
  const fingerprints = [webhook, { ...webhook, secret: 'other' }].map(
    (webhook) => newJobOf({ ...scene, webhook, idempotency: { key: 'k' } }).idempotency?.fingerprint,
  );
  t.equal(fingerprints[0], fingerprints[1], 'the secret is not part of it');
  for (const key of ['', undefined, 1]) {
    const idempotency = { key: key as string };
    t.throws(() => newJobOf({ ...scene, idempotency }), { code, message: /^idempotency\.key is/ });
  }
  for (const fingerprint of [17, {}, 'f\0', 'f\ud800']) {
    const idempotency = { key: 'k', fingerprint: fingerprint as string };
    t.throws(() => newJobOf({ ...scene, idempotency }), { code, message: /^idempotency\.fingerprint is/ });
  }
  t.end();
});

t.test('a title, tags, a seed and parameters are optional', (t) => {
  t.match(newJobOf({ ...scene, title: 'Ferns', tags: ['a', 'é'], seed: 2 ** 32 - 1, params: { a: 1 } }), {
    ...{ title: 'Ferns', tags: ['a', 'é'], seed: 2 ** 32 - 1, params: { a: 1 } },
  });
  for (const name of ['title', 'tags', 'seed', 'params'])
    t.notOk(name in newJobOf({ ...scene, tags: [] }), name);
  const many = Array.from({ length: 21 }, (_, index) => `${index}`);
  for (const [name, wrong] of [
    ['title', ['', 'x'.repeat(201), 'a\0', 1, null]],
    ['tags', ['a', [''], ['a', 'a'], ['x'.repeat(51)], ['a\ud800'], many, [1]]],
    ['seed', [-1, 0.5, 2 ** 32, '7', null]],
    ['params', [[], 'a', 1, null, { 'a b': 1 }, { a: 'x'.repeat(65_536) }]],
  ] as const)
    for (const value of wrong)
      t.throws(() => newJobOf({ ...scene, [name]: value }), { code, message: new RegExp(`^${name}`) });
  t.end();
});
