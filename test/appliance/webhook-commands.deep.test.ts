import t, { type Test } from 'tap';
import { TestAuthority } from '../fixtures/certificates.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import type { Answer } from '../fixtures/webhook-receiver.ts';
import { scenepress, serve } from './command.ts';
import { deliveringAppliance } from './delivering-appliance.ts';

const authority = new TestAuthority(testFolder(t));
const delivering = (t: Test, answer?: Answer) => deliveringAppliance(t, authority, answer);

t.test('deliveries can be listed, shown and sent again from the command line', async (t) => {
  const { receiver, endJob, dataDir, key } = await delivering(t, (response) => {
    response.writeHead(200).end('thank \u001b[31myou');
  });
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await scenepress([...args, '--data-dir', dataDir]);
    t.equal(stderr, '');
    t.equal(code, 0, args.join(' '));
    return stdout;
  };
  const json = async (...args: string[]) => JSON.parse(await run(...args, '--json'));
  const jobId = await endJob();
  await receiver.got(1);
  const [delivery, ...others] = await json('delivery', 'list', '--job', jobId);
  t.same(others, []);
  const { deliveryId } = delivery;
  const shown = await run('delivery', 'show', deliveryId);
  t.match(shown, /^Status {4}delivered$/m);
  t.match(shown, /^Attempt .* 200$/m);
  t.match(shown, /thank ·\[31myou/, 'terminal escapes in a response are replaced');
  t.match(await run('delivery', 'send-again', deliveryId), /^Created delivery \S+\. /);
  const [, again] = await receiver.got(2);
  t.equal(again?.headers['svc-redelivery'], deliveryId);
  t.strictSame(again?.body, receiver.received[0]?.body);
  t.match(
    await run('delivery', 'list', '--account', 'eve@example.org', '--limit', '1'),
    /^DELIVERY ID.*\n\S+ .*\n$/,
  );
  t.same(await json('delivery', 'list', '--account', 'ada@example.org'), []);
  const { webhookSecret } = await json('key', 'rotate-secret', key.keyId);
  t.match(webhookSecret, /^whsec_/);
  t.same(await json('key', 'set-webhook', key.keyId, 'none'), { keyId: key.keyId, webhookUrl: null });
  t.notMatch(shown + (await run('delivery', 'list')), 'whsec_');
});

t.test(
  'deliveries that are due are sent when a service starts, and a signal stops it gracefully',
  async (t) => {
    const { receiver, endJob, dataDir, service, stop } = await delivering(t);
    await endJob();
    await receiver.got(1);
    await service.drain({ graceMs: 5_000 });
    await stop();
    const run = async (...args: string[]) => {
      const { stdout, stderr } = await scenepress([...args, '--json', '--data-dir', dataDir]);
      t.equal(stderr, '');
      return JSON.parse(stdout);
    };
    const [{ deliveryId }] = await run('delivery', 'list');
    const again = await run('delivery', 'send-again', deliveryId);
    t.match(again, { status: 'waiting', repeats: deliveryId });
    const server = await serve(t, ['--data-dir', dataDir], {
      env: {
        SCENEPRESS_WEBHOOKS_ALLOW_NETWORKS: '127.0.0.0/8',
        SCENEPRESS_WEBHOOKS_CA: authority.caFile,
        SCENEPRESS_DRAIN_SECONDS: '10',
      },
    });
    await receiver.got(2);
    server.kill('SIGTERM');
    t.equal(await server.ended, 0);
    t.match(await run('delivery', 'show', again.deliveryId), { status: 'delivered', lastStatus: 200 });
    t.notMatch(server.stderr(), /whsec_/);
  },
);

t.test('delivery and key commands work without a server', async (t) => {
  const dataDir = await temporaryFolder(t);
  const run = (...args: string[]) => scenepress([...args, '--data-dir', dataDir]);
  t.match(await run('delivery', 'list', '--json'), { code: 0, stdout: '[]\n' });
  t.match(await run('delivery', 'show', 'nothing'), { code: 1, stderr: /There is no delivery nothing\./ });
  t.match(await run('delivery', 'send-again', 'nothing'), {
    code: 1,
    stderr: /There is no delivery nothing\./,
  });
  t.match(await run('delivery', 'list', '--limit', 'x'), {
    code: 2,
    stderr: /It must be a whole number\./,
  });
  t.match(await run('key', 'rotate-secret', 'key_x'), { code: 1, stderr: /no key key_x/ });
  t.match(await run('key', 'set-webhook', 'key_x', 'http://x'), { code: 1, stderr: /https:/ });
});
