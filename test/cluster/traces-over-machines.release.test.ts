import t from 'tap';
import { TestAuthority } from '../fixtures/certificates.ts';
import { ancestry, type ExportedSpan, otlpReceiver } from '../fixtures/otlp-receiver.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { webhookReceiver } from '../fixtures/webhook-receiver.ts';
import { cluster, type Machine, newKey } from './machines.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const authority = new TestAuthority(testFolder(t));

t.test('a job is one trace over a server, workers and a sender', async (t) => {
  const receiver = await otlpReceiver(t);
  const hook = await webhookReceiver(t, authority.issue(['127.0.0.1']));
  const machines = await cluster(t, {
    ...receiver.env,
    SCENEPRESS_WEBHOOKS_ALLOW_NETWORKS: '127.0.0.0/8',
    SCENEPRESS_WEBHOOKS_CA: authority.caFile,
  });
  const named = (name: string) => ({ OTEL_SERVICE_NAME: name });
  const server = await machines.start('serve', ['--roles', 'api,upkeep'], named('server'));
  const sender = await machines.start('serve', ['--roles', 'sender'], named('sender'));
  const first = await machines.start('worker', [], named('first worker'));
  const key = await newKey(machines);
  const webhookUrl = `https://127.0.0.1:${hook.port}/hook`;
  await post(server, key, { className: 'Hello', code: 'linger', webhookUrl });
  await receiver.got((spans) => spans.some(({ name }) => name === 'job.wait'));

  // The job goes to another machine.
  first.kill('SIGTERM');
  t.equal(await first.ended, 0);
  const second = await machines.start('worker', [], named('second worker'));
  await receiver.got((spans) => spans.filter(({ name }) => name === 'job.wait').length === 2);
  second.release();
  await hook.got(1);
  const all = await receiver.got((spans) => spans.some(({ name }) => name === 'POST'));
  const spans = await receiver.got(() => all.some(({ name }) => name === 'job.end'));

  const ofJob = spans.filter(({ traceId }) => traceId === TRACE_ID);
  const places = new Set(ofJob.map((span) => `${span.resource['service.name']}: ${pathOf(span, ofJob)}`));
  const inside = 'POST /api/v2/render > enqueue jobs';
  t.same([...places].sort(), [
    `first worker: ${inside} > job.wait`,
    `first worker: ${inside} > render jobs`,
    `first worker: ${inside} > render jobs > render.prepare`,
    `second worker: ${inside} > job.end`,
    `second worker: ${inside} > job.wait`,
    `second worker: ${inside} > render jobs`,
    `second worker: ${inside} > render jobs > render.finishing`,
    `second worker: ${inside} > render jobs > render.prepare`,
    `second worker: ${inside} > render jobs > render.store`,
    `sender: ${inside} > POST`,
    'server: POST /api/v2/render',
    `server: ${inside}`,
  ]);
  for (const { name, startMs, endMs } of ofJob) t.ok(startMs <= endMs, name);
  const [wait, again] = ofJob.filter(({ name }) => name === 'job.wait');
  const [stopped] = ofJob.filter(({ name }) => name === 'render jobs');
  t.ok((wait?.endMs ?? 0) <= (stopped?.startMs ?? 0));
  t.ok((stopped?.endMs ?? 0) <= (again?.startMs ?? 0), 'it waits again after its first attempt');
  const posted = ofJob.find(({ name }) => name === 'POST');
  t.equal(hook.received[0]?.headers['traceparent'], `00-${TRACE_ID}-${posted?.spanId}-01`);
  for (const machine of [server, sender, second]) {
    machine.kill('SIGTERM');
    t.equal(await machine.ended, 0);
  }
});

function pathOf(span: ExportedSpan, spans: ExportedSpan[]): string {
  return ancestry(span, spans).toReversed().join(' > ');
}

function post({ port }: Machine, key: string, body: object): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/api/v2/render`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`,
    },
    body: JSON.stringify(body),
  });
}
