import { join } from 'node:path';
import t from 'tap';
import { DataFolder, LocalSignals, RenderService, type RenderServiceOptions } from '../../lib/index.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { until } from '../fixtures/until.ts';
import { webhookReceiver } from '../fixtures/webhook-receiver.ts';

const PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');
const REASON = 'Its prices are not those of the others.';

t.test('a process that is held back accepts no jobs, renders none and sends nothing', async (t) => {
  const authority = new TestAuthority(testFolder(t));
  const receiver = await webhookReceiver(t, authority.issue(['127.0.0.1']));
  const dataFolder = new DataFolder(join(t.testdirName, 'data'));
  const signals = new LocalSignals();
  const serviceWith = (options: Partial<RenderServiceOptions>) => {
    const service = new RenderService({
      dataFolder,
      signals,
      workers: 1,
      renderer: { python: PYTHON, insecureNoSandbox: true },
      assetUrl: 'https://assets.example.org',
      webhooks: { allowNetworks: ['127.0.0.0/8'], ca: authority.ca },
      ...options,
    });
    t.teardown(() => service.stop());
    return service;
  };
  const front = serviceWith({ roles: ['api'] });
  await front.start();
  const webhook = { url: `https://127.0.0.1:${receiver.port}/`, secret: 's' };
  const request = { owner: 'ada', className: 'A', code: 'x', webhook };
  const waiting = await front.enqueue(request);
  const canceled = await front.enqueue(request);
  await front.cancel(canceled.jobId);

  let reason: string | undefined = REASON;
  const held = serviceWith({ heldBack: () => reason });
  await held.start();
  t.match(held.status(), { ready: false, problems: [{ part: 'configuration', message: REASON }] });
  const refused = { code: 'not_running', message: /does not accept jobs at present/ };
  await t.rejects(held.enqueue(request), refused);
  await t.rejects(held.renderAgain(canceled.jobId), refused);
  await t.rejects(held.scenesOf('x'), refused);
  // Longer than the time between two looks for work, of renders and of webhooks.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  t.match(await front.get(waiting.jobId), { status: 'queued' });
  t.equal(await front.deliveries.countDue(), 1);

  reason = undefined;
  t.match(held.status(), { ready: true, problems: [] });
  t.match(await held.wait(waiting.jobId), { status: 'completed' });
  await until(async () => (await front.deliveries.countDue()) === 0);
  await receiver.got(2);
});
