import { join } from 'node:path';
import t from 'tap';
import { peopledAppliance } from './browser.ts';
import { signedIn } from './client.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');

t.test('failures are shown apart from cancellations, however many there are', async (t) => {
  const { port, member, installation, service } = await peopledAppliance(t, {
    python: INSTANT_PYTHON,
    insecureNoSandbox: true,
  });
  const client = await signedIn(t, port, member);
  const { accountId } = await installation.accounts.find(member);
  const enqueue = async (code: string) =>
    (await service.enqueue({ owner: accountId, className: 'A', code })).jobId;
  await service.wait(await enqueue('fail'));
  t.match((await client.get('/dashboard/overview')).text, '0 completed, 1 failed</small>');
  await service.pauseQueue();
  for (let count = 0; count < 101; count += 1) await service.cancel(await enqueue('x'));
  const { text } = await client.get('/dashboard/overview');
  t.match(text, '<dd>102<small>0 completed, 1 failed, 101 canceled</small>');
  t.match(text, /Failures today.*<span class="tag bad">1 job</s);
});
