import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { ancestry, type ExportedSpan, otlpReceiver } from '../../fixtures/otlp-receiver.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';
import { send } from '../listening-appliance.ts';
import { CLIENT_SPAN, TRACE_ID, TRACEPARENT, tracedService } from './traced-service.ts';

const authority = new TestAuthority(testFolder(t));
const named = (spans: ExportedSpan[], name: string) => spans.filter((span) => span.name === name);

t.test('a job is one trace, from its request to its webhook, over a restart', async (t) => {
  const receiver = await otlpReceiver(t);
  const hook = await webhookReceiver(t, authority.issue(['127.0.0.1']));
  const dataDir = await temporaryFolder(t);
  const env = {
    ...receiver.env,
    OTEL_SERVICE_NAME: 'videos',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-token=secret-of-the-collector',
  };
  const first = await tracedService(t, { dataDir, env, authority });
  const { key } = first;
  const worker = join(dataDir, 'work', 'w0');
  const code = 'linger # secret code';
  const jobId = await first.add({
    code,
    webhookUrl: `https://127.0.0.1:${hook.port}/hook?token=secret`,
  });
  await until(() => existsSync(join(worker, 'lingers')));
  first.kill('SIGTERM');
  t.equal(await first.ended, 0);
  t.ok(named(receiver.spans, 'render jobs').length === 1, 'spans are sent before the process ends');

  const second = await tracedService(t, { dataDir, env, authority });
  await until(() => existsSync(join(worker, 'lingers')));
  writeFileSync(join(worker, 'go'), '');
  await hook.got(1);
  const spans = await receiver.got((spans) => named(spans, 'POST').length === 1);

  const ofJob = spans.filter(({ traceId }) => traceId === TRACE_ID);
  const [request] = named(ofJob, 'POST /api/v2/render');
  t.match(request, {
    parentSpanId: CLIENT_SPAN,
    kind: 2,
    isError: false,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/api/v2/render',
      'http.response.status_code': 202,
      'url.path': '/api/v2/render',
      'url.scheme': 'http',
    },
  });
  const paths = new Set(ofJob.map((span) => ancestry(span, ofJob).toReversed().join(' > ')));
  const inside = 'POST /api/v2/render > enqueue jobs';
  t.same([...paths].sort(), [
    'POST /api/v2/render',
    inside,
    `${inside} > POST`,
    `${inside} > job.end`,
    `${inside} > job.wait`,
    `${inside} > render jobs`,
    `${inside} > render jobs > render.finishing`,
    `${inside} > render jobs > render.prepare`,
    `${inside} > render jobs > render.store`,
  ]);
  const [[, again], [stopped, rendered]] = [named(ofJob, 'job.wait'), named(ofJob, 'render jobs')];
  t.match(stopped?.attributes, { 'scenepress.job.id': jobId, 'scenepress.render.result': 'stopped' });
  t.match(rendered?.attributes, {
    'scenepress.render.result': 'rendered',
    'scenepress.render.work.draw_ms': 1,
    'messaging.message.id': jobId,
  });
  t.match([stopped?.isError, rendered?.isError], [false, false]);
  t.not(stopped?.resource['service.instance.id'], rendered?.resource['service.instance.id']);
  t.match(rendered?.resource, { 'service.name': 'videos', 'deployment.environment.name': 'test' });
  const [enqueue, wait, end, post] = ['enqueue jobs', 'job.wait', 'job.end', 'POST'].map(
    (name) => named(ofJob, name)[0],
  );
  const times = [
    ...[request?.startMs, enqueue?.startMs, wait?.startMs, wait?.endMs, stopped?.startMs, stopped?.endMs],
    ...[again?.startMs, again?.endMs, rendered?.startMs, rendered?.endMs, end?.startMs, end?.endMs],
    ...[post?.startMs, post?.endMs],
  ] as number[];
  t.same(
    times.toSorted((a, b) => a - b),
    times,
    'one after the other',
  );
  t.match(hook.received[0]?.headers['traceparent'], `00-${TRACE_ID}-${post?.spanId}-01`);
  t.same([...new Set(receiver.headers)], ['secret-of-the-collector']);
  const written = JSON.stringify(spans) + second.stderr();
  for (const secret of ['secret', 'Hello', key, 'ada@']) t.notMatch(written, secret);

  second.kill('SIGTERM');
  t.equal(await second.ended, 0);
});

t.test('requests to the APIs and to MCP have spans, and the jobs that they add', async (t) => {
  const receiver = await otlpReceiver(t);
  const service = await tracedService(t, { dataDir: await temporaryFolder(t), env: receiver.env });
  const { key } = service;
  const headers = { authorization: `Bearer ${key}`, traceparent: TRACEPARENT };
  const job = { className: 'Hello', code: 'from manim import *', quality: 'low' };
  await send(service.port, '/api/tools/v1/jobs', { method: 'POST', headers, body: JSON.stringify(job) });
  const call = { name: 'render', arguments: { code: job.code, className: 'Hello' } };
  const { text } = await send(service.port, '/mcp', {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
  });
  t.match(text, /"result"/);
  await send(service.port, '/api/v2/me', { headers: { traceparent: TRACEPARENT } });
  await send(service.port, '/health/live', { headers: { traceparent: TRACEPARENT } });
  const spans = await receiver.got(
    (spans) => named(spans, 'GET /api/v2/me').length === 1 && named(spans, 'job.end').length === 2,
  );
  t.same(
    named(spans, 'enqueue jobs')
      .map((span) => ancestry(span, spans)[1])
      .sort(),
    ['POST /api/tools/v1/{path*}', 'POST /mcp'],
  );
  t.match(named(spans, 'GET /api/v2/me'), [
    { parentSpanId: CLIENT_SPAN, isError: false, attributes: { 'http.response.status_code': 401 } },
  ]);
  t.same(
    spans.filter(({ attributes }) => attributes['url.path'] === '/health/live'),
    [],
  );
});
