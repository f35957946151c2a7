import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { otlpReceiver } from '../../fixtures/otlp-receiver.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';
import { TRACEPARENT, tracedService } from './traced-service.ts';

const PRELOADED = join(import.meta.dirname, '../../fixtures/list-loaded-modules.mjs');
const authority = new TestAuthority(testFolder(t));

t.test('without variables nothing of the SDK is loaded, and the trace is passed on', async (t) => {
  t.same(await packagesOf(t, {}, TRACEPARENT), ['@opentelemetry/api']);
});

t.test('with an endpoint it is, and exports protobuf', async (t) => {
  const { url, protobufs } = await otlpReceiver(t);
  const packages = await packagesOf(t, { OTEL_EXPORTER_OTLP_ENDPOINT: url });
  t.ok(packages.includes('@opentelemetry/sdk-trace-node'));
  const exported = Buffer.concat(protobufs).toString('latin1');
  for (const name of ['enqueue jobs', 'render jobs', 'job.end', 'POST']) t.ok(exported.includes(name), name);
});

/** The packages of OpenTelemetry that a service loads until it has rendered a job and stopped. */
async function packagesOf(t: Test, env: Record<string, string>, passedOn?: string): Promise<string[]> {
  const [dataDir, listFolder] = [await temporaryFolder(t), await temporaryFolder(t)];
  const list = join(listFolder, 'loaded');
  const receiver = await webhookReceiver(t, authority.issue(['127.0.0.1']));
  const service = await tracedService(t, {
    ...{ dataDir, authority },
    env: { NODE_OPTIONS: `--import ${PRELOADED}`, LOADED_MODULES: list, ...env },
  });
  await service.add({ code: 'from manim import *', webhookUrl: `https://127.0.0.1:${receiver.port}/` });
  const [received] = await receiver.got(1);
  if (passedOn) t.equal(received?.headers['traceparent'], passedOn);
  service.kill('SIGTERM');
  t.equal(await service.ended, 0);
  const packages = readFileSync(list, 'utf8').match(/@opentelemetry\/[\w-]+/g) ?? [];
  return [...new Set(packages)].sort();
}
