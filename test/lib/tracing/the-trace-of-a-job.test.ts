import { SpanStatusCode, trace } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-node';
import t, { type Test } from 'tap';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { instantService } from '../../fixtures/instant-service.ts';
import { recordSpans, timesOf } from '../../fixtures/recorded-spans.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;
const REQUEST = { owner: 'ada', className: 'Hello', quality: 'low', code: 'secret code' } as const;
const authority = new TestAuthority(testFolder(t));

t.test('with the provider of a host', async (t) => {
  const spans = recordSpans(t);
  const receiver = await webhookReceiver(t, authority.issue(['127.0.0.1']));
  const service = await instantService(t, {
    assetUrl: 'https://assets.example.org',
    webhooks: { allowNetworks: ['127.0.0.0/8'], ca: authority.ca },
  });
  const webhook = {
    url: `https://127.0.0.1:${receiver.port}/hook/token-in-path?key=token-in-query`,
    secret: 'whsec_1',
  };
  const parentOf = (name: string) => spans.one(name).parentSpanContext?.spanId;
  const idOf = (name: string) => spans.one(name).spanContext().spanId;

  await t.test('all spans of a job belong to the trace of its request, in their order', async (t) => {
    const { jobId } = await service.enqueue({
      ...{ ...REQUEST, webhook, title: 'secret title', metadata: 'secret metadata' },
      traceContext: { traceparent: TRACEPARENT, tracestate: 'vendor=1' },
    });
    const job = await service.wait(jobId);
    t.equal(job.status, 'completed', job.error ?? '');
    const [received] = await receiver.got(1);
    await until(() => spans.named('POST').length === 1);

    t.equal(parentOf('enqueue jobs'), 'b7ad6b7169203331');
    for (const name of ['job.wait', 'render jobs', 'job.end', 'POST'])
      t.equal(parentOf(name), idOf('enqueue jobs'), name);
    const phases = [
      'render.prepare',
      'render.loading',
      'render.rendering',
      'render.finishing',
      'render.store',
    ];
    const recorded = spans.all().filter(({ name }) => name.startsWith('render.'));
    t.same(
      recorded.map(({ name }) => name).filter((name) => !phases.includes(name)),
      [],
    );
    for (const { name } of recorded) t.equal(parentOf(name), idOf('render jobs'), name);
    t.ok(recorded.length >= 3, 'with phases');
    for (const span of spans.all()) t.equal(span.spanContext().traceId, TRACE_ID, span.name);

    const [wait, render, end, post] = ['job.wait', 'render jobs', 'job.end', 'POST'].map((name) =>
      timesOf(spans.one(name)),
    );
    t.equal(wait?.endMs, render?.startMs);
    t.ok((render?.endMs ?? 0) <= (end?.startMs ?? 0));
    t.ok((end?.startMs ?? 0) <= (post?.startMs ?? 0));
    for (const span of recorded) {
      const { startMs, endMs } = timesOf(span);
      t.ok((render?.startMs ?? 0) <= startMs && startMs <= endMs && endMs <= (render?.endMs ?? 0), span.name);
    }

    t.equal(received?.headers['traceparent'], `00-${TRACE_ID}-${idOf('POST')}-01`);
    t.equal(received?.headers['tracestate'], 'vendor=1');
    t.match(spans.one('enqueue jobs').attributes, {
      'messaging.operation.type': 'send',
      'messaging.message.id': jobId,
    });
    t.match(spans.one('render jobs').attributes, {
      'messaging.operation.type': 'process',
      'scenepress.job.id': jobId,
      'scenepress.job.attempt': 1,
      'scenepress.render.result': 'rendered',
    });
    t.match(spans.one('job.end').attributes, { 'scenepress.job.status': 'completed' });
    t.match(spans.one('POST').attributes, {
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': receiver.port,
    });
    const told = JSON.stringify(
      spans.all().map(({ name, attributes, events }) => [name, attributes, events]),
    );
    t.notMatch(told, /secret|token|Hello|ada|whsec/, 'nothing of what the owner wrote');
    for (const { status } of spans.all()) t.equal(status.code, 0);
  });

  await t.test('jobs of an active span are its children', async (t) => {
    const before = spans.all().length;
    const jobs = await trace.getTracer('host').startActiveSpan('host', async (host) => {
      const jobs = await service.enqueueMany([REQUEST, REQUEST]);
      host.end();
      return jobs;
    });
    for (const { jobId } of jobs) await service.wait(jobId);
    const ofTrace = spans.all().slice(before);
    const [enqueue, ...more] = ofTrace.filter(({ name }) => name === 'enqueue jobs');
    t.same(more, [], 'one for all of them');
    t.equal(
      enqueue?.parentSpanContext?.spanId,
      ofTrace.find(({ name }) => name === 'host')?.spanContext().spanId,
    );
    t.equal(enqueue?.attributes['messaging.batch.message_count'], 2);
    t.equal(new Set(ofTrace.map((span) => span.spanContext().traceId)).size, 1);
  });

  await t.test('the fault of a scene is an attribute, not an error of the service', async (t) => {
    const { jobId } = await service.enqueue({ ...REQUEST, code: 'fail: secret message' });
    await service.wait(jobId);
    const ofJob = spans.all().filter(({ attributes }) => attributes['scenepress.job.id'] === jobId);
    for (const name of ['render jobs', 'job.end']) {
      const span = ofJob.find((span) => span.name === name);
      t.equal(span?.attributes['scenepress.job.failed_by'], 'scene');
      t.equal(span?.status.code, 0);
    }
    t.notMatch(JSON.stringify(ofJob.map(({ attributes, status }) => [attributes, status])), /secret/);
  });

  await t.test(
    'a refused request has an error type, and a malformed traceparent begins a new trace',
    async (t) => {
      const before = spans.all().length;
      const traceContext = { traceparent: '00-nonsense' };
      const idempotency = { key: 'k', fingerprint: 'f' };
      const { jobId } = await service.enqueue({ ...REQUEST, traceContext, idempotency });
      await service.wait(jobId);
      const other = { ...REQUEST, idempotency: { key: 'k', fingerprint: 'g' } };
      await t.rejects(service.enqueue(other), { code: 'conflict' });
      const refused = spans
        .all()
        .slice(before)
        .filter(({ name }) => name === 'enqueue jobs')
        .at(-1);
      t.equal(refused?.attributes['error.type'], 'conflict');
      t.equal(refused?.status.code, 0);
      t.equal(refused?.parentSpanContext, undefined);
    },
  );

  await t.test('a canceled job has waited, without an attempt', async (t) => {
    await service.pauseQueue();
    const { jobId } = await service.enqueue(REQUEST);
    await service.cancel(jobId);
    await service.resumeQueue();
    const ofJob = spans.all().filter(({ attributes }) => attributes['scenepress.job.id'] === jobId);
    t.same(
      ofJob.map(({ name }) => name),
      ['enqueue jobs', 'job.wait', 'job.end'],
    );
    t.match(ofJob.at(-1), { attributes: { 'scenepress.job.failed_by': 'cancel' }, status: { code: 0 } });
  });

  await t.test('faults of the service and of receivers are errors', async (t) => {
    const refusing = await webhookReceiver(t, authority.issue(['127.0.0.1']), (response) => {
      response.writeHead(500).end('secret answer');
    });
    const url = `https://127.0.0.1:${refusing.port}/`;
    const { jobId } = await service.enqueue({ ...REQUEST, code: 'die', webhook: { ...webhook, url } });
    t.equal((await service.wait(jobId)).failedBy, 'service');
    const ofJob = () => spans.all().filter(({ attributes }) => attributes['scenepress.job.id'] === jobId);
    await until(() => ofJob().some(({ name }) => name === 'POST'));
    const faults = ofJob().flatMap(({ name, attributes, status }) =>
      status.code === SpanStatusCode.ERROR ? [[name, attributes['error.type'], status.message]] : [],
    );
    t.same(faults, [
      ['render jobs', 'died', undefined],
      ['render jobs', 'died', undefined],
      ['job.end', 'service', undefined],
      ['POST', '500', undefined],
    ]);
    t.equal(ofJob().filter(({ name }) => name === 'job.wait').length, 2, 'it waits again');
  });
});

t.test('a repetition with another trace is the same request', async (t) => {
  const service = await instantService(t);
  const repeated = { ...REQUEST, idempotency: { key: 'k' } };
  const { jobId } = await service.enqueue({ ...repeated, traceContext: { traceparent: TRACEPARENT } });
  t.equal((await service.enqueue(repeated)).jobId, jobId);
  const options = { idempotency: { key: 'many' } };
  const [first] = await service.enqueueMany(
    [{ ...REQUEST, traceContext: { traceparent: TRACEPARENT } }],
    options,
  );
  t.match(await service.enqueueMany([REQUEST], options), [{ jobId: first?.jobId }]);
});

t.test('the decision not to sample is passed on', async (t) => {
  const spans = recordSpans(t, { sampler: new AlwaysOffSampler() });
  const received = await webhookOf(t);
  t.match(received, /^00-[\da-f]{32}-[\da-f]{16}-00$/);
  t.same(spans.all(), []);
});

t.test('a provider that throws fails no job', async (t) => {
  const thrower = () => {
    throw new Error('no traces today');
  };
  const [shutdown, forceFlush] = [async () => {}, async () => {}];
  recordSpans(t, { processor: { onStart: thrower, onEnd: thrower, shutdown, forceFlush } });
  const service = await instantService(t);
  const { jobId } = await service.enqueue(REQUEST);
  t.match(await service.wait(jobId), { status: 'completed', attempts: 1 });
  recordSpans(t, { processor: { onStart: () => {}, onEnd: thrower, shutdown, forceFlush } });
  const again = await service.enqueue(REQUEST);
  t.match(await service.wait(again.jobId), { status: 'completed', attempts: 1 });
});

t.test('without a provider, the context of the request is passed on, and nothing without one', async (t) => {
  t.equal(await webhookOf(t, { traceContext: { traceparent: TRACEPARENT } }), TRACEPARENT);
  t.equal(await webhookOf(t), undefined);
});

/** The `traceparent` of the webhook of a job. */
async function webhookOf(t: Test, request: object = {}): Promise<unknown> {
  const receiver = await webhookReceiver(t, authority.issue(['127.0.0.1']));
  const service = await instantService(t, {
    assetUrl: 'https://assets.example.org',
    webhooks: { allowNetworks: ['127.0.0.0/8'], ca: authority.ca },
  });
  const webhook = { url: `https://127.0.0.1:${receiver.port}/`, secret: 'whsec_1' };
  await service.enqueue({ ...REQUEST, webhook, ...request });
  const [received] = await receiver.got(1);
  await service.stop();
  return received?.headers['traceparent'];
}
