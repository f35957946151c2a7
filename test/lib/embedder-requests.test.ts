import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { type EnqueueRequest, httpErrorOf, httpStatusOf, ScenepressError } from '../../lib/index.ts';
import { DistantLedger } from '../fixtures/distant-ledger.ts';
import { instantService } from '../fixtures/instant-service.ts';
import { openPostgres } from '../fixtures/postgres/database.ts';

const request = { owner: 'ada', className: 'Main', code: 'a scene' };

t.test('misuse that a request can cause is a ScenepressError', async (t) => {
  const service = await instantService(t);
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ owner: '' }, /^owner is/],
    [{ owner: 7 }, /^owner is/],
    [{ owner: undefined }, /^owner is/],
    [{ metadata: circular }, /^metadata must be a JSON value/],
    [{ metadata: 1n }, /^metadata must be a JSON value/],
    [{ metadataJson: '{' }, /^metadataJson must be JSON text/],
    [{ webhook: { url: 'https://example.org', secret: '' } }, /^webhook.secret is/],
    [{ webhook: { url: 'http://example.org', secret: 's' } }, /^webhookUrl must/],
    [{ idempotency: { key: '' } }, /^idempotency.key is/],
    [{ code: 7 }, /^code is required/],
  ];
  for (const [fields, message] of wrong) {
    const enqueued = service.enqueue({ ...request, ...fields } as EnqueueRequest);
    await t.rejects(enqueued, { code: 'invalid_request', message });
  }
  for (const jobId of [undefined, null, 7, {}, '', 'x'] as unknown as string[]) {
    await t.rejects(service.get(jobId), { code: 'not_found' });
    await t.rejects(service.wait(jobId), { code: 'not_found' });
    await t.rejects(service.deliveries.get(jobId), { code: 'not_found' });
  }
  for (const query of [
    { limit: -1 },
    { limit: Number.NaN },
    { limit: '5' },
    { status: 'done' },
    { before: 7 },
    { quality: 'best' },
    { sinceMs: 1.5 },
  ])
    await t.rejects(service.list(query as object), { code: 'invalid_request' });
  await t.rejects(service.scenesOf(''), { code: 'invalid_request' });

  const { jobId } = await service.enqueue({ ...request, code: 'large' });
  const { artifacts } = await service.wait(jobId);
  const sizeBytes = artifacts[0]?.sizeBytes ?? 0;
  t.ok(sizeBytes > 0);
  await t.rejects(service.openArtifact(jobId, '../master.key' as 'video.mp4'), { code: 'not_found' });
  for (const [start, end] of [
    [-1, 2],
    [3, 2],
    [0.5, 2],
    [sizeBytes, sizeBytes],
    ['0', 1],
  ] as [number, number][])
    await t.rejects(service.openArtifact(jobId, 'video.mp4', { range: { start, end } }), {
      code: 'invalid_request',
    });
});

for (const [database, storageOf] of [
  ['SQLite', async () => undefined],
  ['Postgres', openPostgres],
] as const)
  t.test(`with ${database}, wrong ids and queries are reported in the same way`, async (t) => {
    const storage = await storageOf(t);
    const service = await instantService(t, storage ? { storage, settings: storage.settings } : {});
    const { jobId } = await service.enqueue(request);
    await service.wait(jobId);
    for (const id of ['\0', `${jobId}\0`, '\ud800', 'x'.repeat(10_000)]) {
      for (const call of ['get', 'wait', 'cancel', 'forget', 'plays', 'output', 'renderAgain'] as const)
        await t.rejects(service[call](id) as Promise<unknown>, { code: 'not_found' }, call);
      await t.rejects(service.follow(id).next(), { code: 'not_found' });
      await t.rejects(service.openArtifact(id, 'video.mp4'), { code: 'not_found' });
      await t.rejects(service.deliveries.get(id), { code: 'not_found' });
      await t.rejects(service.deliveries.sendAgain(id), { code: 'not_found' });
    }
    const wrong = [undefined, null, 7, 'a\0', 'a\ud800'] as string[];
    for (const owner of wrong) {
      await t.rejects(service.balance(owner), { code: 'invalid_request', message: /^owner must be/ });
      await t.rejects(service.forgetAll(owner), { code: 'invalid_request', message: /^owner must be/ });
      await t.rejects(service.enqueue({ ...request, owner }), { code: 'invalid_request' });
    }
    for (const owner of wrong.slice(1)) {
      for (const query of [{ owner }, { before: owner }] as object[]) {
        await t.rejects(service.list(query), { code: 'invalid_request' });
        await t.rejects(service.deliveries.list(query), { code: 'invalid_request' });
      }
      await t.rejects(service.count({ owner }), { code: 'invalid_request' });
    }
    for (const limit of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5'] as number[]) {
      await t.rejects(service.count({ limit }), { code: 'invalid_request', message: /^limit must be/ });
      await t.rejects(service.searchErrors({ text: 'a', limit }), { code: 'invalid_request' });
      await t.rejects(service.searchErrors({ text: 'a', mostExamined: limit }), { code: 'invalid_request' });
      await t.rejects(service.deliveries.list({ limit }), { code: 'invalid_request' });
      await t.rejects(service.deliveries.countDue({ limit }), { code: 'invalid_request' });
      await t.rejects(service.deliveries.sendFailedAgain({ sinceMs: 0, limit }), { code: 'invalid_request' });
    }
    await t.rejects(service.count({ sinceMs: Number.NaN }), { code: 'invalid_request' });
    await t.rejects(service.searchErrors({} as never), { code: 'invalid_request', message: /^text must be/ });
    await t.rejects(service.deliveries.list({ state: 'x' as never }), {
      code: 'invalid_request',
      message: "state must be one of [pending, delivered, failed], not 'x'.",
    });
    const longest = randomBytes(768).toString('base64');
    t.equal(longest.length, 1024);
    t.equal((await service.enqueue({ ...request, owner: longest, keyId: longest })).owner, longest);
    t.equal((await service.count({ owner: 'ada', limit: 1 })).completed, 1);
    t.equal((await service.get(jobId)).forgottenAt, undefined, 'nothing was erased');
  });

t.test('an artifact is opened with its type, for its owner only, and can be aborted', async (t) => {
  const service = await instantService(t);
  const { jobId } = await service.enqueue({ ...request, code: 'large' });
  await service.wait(jobId, { owner: 'ada' });
  await t.rejects(service.openArtifact(jobId, 'video.mp4', { owner: 'bob' }), { code: 'not_found' });
  const opened = await service.openArtifact(jobId, 'video.mp4', {
    owner: 'ada',
    range: { start: 0, end: 3 },
  });
  t.match(opened, { name: 'video.mp4', contentType: 'video/mp4' });
  t.equal((await buffer(opened.stream)).length, 4);
  const giveUp = new AbortController();
  const { stream } = await service.openArtifact(jobId, 'video.mp4', { signal: giveUp.signal });
  giveUp.abort();
  await t.rejects(buffer(stream), { name: 'AbortError' });
  await t.rejects(service.openArtifact(jobId, 'video.mp4', { signal: giveUp.signal }), {
    name: 'AbortError',
  });
});

t.test('metadata comes back as it was given, as a value and as text', async (t) => {
  const service = await instantService(t);
  const metadata = { lesson: 7, tags: ['a'], none: null };
  const { jobId } = await service.enqueue({ ...request, metadata });
  t.same((await service.wait(jobId)).metadata, metadata);
  t.equal((await service.get(jobId)).metadataJson, JSON.stringify(metadata));
  const exact = await service.enqueue({ ...request, metadataJson: '1.0' });
  t.equal(exact.metadata, 1);
  t.equal(exact.metadataJson, '1.0');
  t.equal((await service.enqueue(request)).metadata, null);
});

t.test('signals abort an enqueue before the job exists, a start, and waits', async (t) => {
  const service = await instantService(t);
  const signal = AbortSignal.abort();
  await t.rejects(service.enqueue(request, { signal }), { name: 'AbortError' });
  t.same(await service.list(), []);
  await t.rejects(service.scenesOf('x', { signal }), { name: 'AbortError' });
  await service.stop();
  await t.rejects(service.start({ signal }), { name: 'AbortError' });
  t.notOk(service.status().ready);
  await service.start();
  t.ok(service.status().ready);
});

t.test('the message of a refusal is that of the ledger', async (t) => {
  class Budgets extends DistantLedger {
    override async reserve(): Promise<never> {
      return { kind: 'insufficient', message: 'The budget of the film is spent. Ask Grace.' } as never;
    }
  }
  const service = await instantService(t, { ledger: new Budgets(0) });
  await t.rejects(service.enqueue(request), {
    code: 'insufficient_credits',
    message: 'The budget of the film is spent. Ask Grace.',
  });
});

t.test('httpStatusOf returns the status of any error', async (t) => {
  t.equal(httpStatusOf(new ScenepressError('invalid_request', '')), 400);
  t.equal(httpStatusOf(new ScenepressError('insufficient_credits', '')), 402);
  t.equal(httpStatusOf(new ScenepressError('not_found', '')), 404);
  t.equal(httpStatusOf(new ScenepressError('artifact_gone', '')), 410);
  t.equal(httpStatusOf(new ScenepressError('queue_full', '')), 503);
  t.equal(httpStatusOf(new ScenepressError('master_key', '')), 500);
  for (const other of [new Error('x'), undefined, 'text']) t.equal(httpStatusOf(other), 500);
});

t.test('errors of other libraries have the status that they name', async (t) => {
  const withStatus = (members: object) => Object.assign(new Error('secret of the server'), members);
  const wrong: [object, number][] = [
    [{ statusCode: 400 }, 400], // Fastify
    [{ status: 413, expose: true }, 413], // Express
    [{ statusCode: '404', status: 404 }, 404],
    [{ status: 503 }, 503],
    [{ statusCode: 200 }, 500],
    [{ status: 1000 }, 500],
    [{ status: 'failed' }, 500],
  ];
  for (const [members, status] of wrong) t.equal(httpStatusOf(withStatus(members)), status);

  const parsing = Object.assign(new Error('Body is not valid JSON'), { statusCode: 400 });
  const body = { error: 'Bad Request', message: 'Body is not valid JSON' };
  t.strictSame(httpErrorOf(parsing), { status: 400, headers: {}, body });
  for (const hidden of [{ status: 500 }, { status: 502 }, { status: 409, expose: false }]) {
    const { status, body } = httpErrorOf(withStatus(hidden));
    t.equal(status, hidden.status);
    t.notMatch(JSON.stringify(body), /secret/);
  }
});
