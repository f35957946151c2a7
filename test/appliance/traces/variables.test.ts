import t from 'tap';
import { examineTraces } from '../../../appliance/doctor/traces.ts';
import { ProblemLog } from '../../../appliance/traces/problem-log.ts';
import { traceExportOf } from '../../../appliance/traces/trace-export.ts';
import { startTraces } from '../../../appliance/traces/traces.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { otlpReceiver } from '../../fixtures/otlp-receiver.ts';

const OTLP = { kind: 'otlp', protocol: 'http/protobuf' };
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

t.test('traces are exported if the variables ask for it', async (t) => {
  const cases: [Record<string, string>, ReturnType<typeof traceExportOf> | object][] = [
    [{}, undefined],
    [{ OTEL_SERVICE_NAME: 'videos', OTEL_EXPORTER_OTLP_ENDPOINT: '' }, undefined],
    [ENDPOINT, { ...OTLP, endpoint: 'http://collector:4318/v1/traces' }],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }, undefined],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }, undefined],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, { ...OTLP, endpoint: 'http://localhost:4318/v1/traces' }],
    [{ OTEL_TRACES_EXPORTER: 'console' }, { kind: 'console' }],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://u:p@traces.example.org/in?key=1' },
      { ...OTLP, endpoint: 'https://traces.example.org/in' },
    ],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
      { ...OTLP, protocol: 'http/json' },
    ],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' },
      { ...OTLP, protocol: 'http/json' },
    ],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      { kind: 'unsupported', problem: /grpc/ },
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, { kind: 'unsupported', problem: /endpoint/ }],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, { kind: 'unsupported', problem: /OTEL_TRACES_EXPORTER=zipkin/ }],
  ];
  for (const [env, expected] of cases)
    if (expected) t.match(traceExportOf(env), expected, JSON.stringify(env));
    else t.equal(traceExportOf(env), undefined, JSON.stringify(env));
});

t.test('what is not supported is logged, and nothing is exported', async (t) => {
  const logged: unknown[] = [];
  const log = (_: object, message: string) => void logged.push(message);
  const env = { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  t.equal(await startTraces(env, { info: log, warn: log }), undefined);
  t.equal(await startTraces({}, { info: log, warn: log }), undefined);
  t.match(logged, [/the protocol grpc of OTLP is not supported. Use http\/protobuf or http\/json/]);
  t.equal(logged.length, 1);
});

t.test('the doctor says whether the collector answers', async (t) => {
  const { url, env } = await otlpReceiver(t);
  t.equal(await examineTraces({}), undefined);
  t.match(await examineTraces(env), { status: 'ok', message: `${url}/v1/traces answers` });
  const closed = `127.0.0.1:${await freePort()}`;
  t.match(await examineTraces({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://user:secret@${closed}` }), {
    status: 'warning',
    message: `the collector http://${closed}/v1/traces does not answer (ECONNREFUSED); spans are lost`,
  });
  t.match(await examineTraces({ OTEL_TRACES_EXPORTER: 'zipkin' }), { status: 'warning', message: /zipkin/ });
  t.match(await examineTraces({ OTEL_TRACES_EXPORTER: 'console' }), { status: 'ok' });
});

t.test('a problem is logged once in ten minutes', async (t) => {
  const clock = new FakeClock('2026-11-21T09:58:20Z');
  const reasons: unknown[] = [];
  const log = new ProblemLog({ warn: ({ reason }: { reason: string }) => void reasons.push(reason) }, clock);
  const refused = JSON.stringify({ stack: 'at …', message: '', code: 'ECONNREFUSED' });
  log.error(refused);
  log.error(refused);
  log.warn('x'.repeat(1_000));
  log.info();
  t.same(reasons, ['ECONNREFUSED', 'x'.repeat(300)]);
  clock.advance(10 * 60_000);
  log.error(refused);
  t.equal(reasons.length, 3);
});
