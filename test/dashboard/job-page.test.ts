import { join } from 'node:path';
import t from 'tap';
import { peopledAppliance } from './browser.ts';
import { signedIn } from './client.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');

t.test('the page of a job shows what its render took', async (t) => {
  const { port, member, installation, service } = await peopledAppliance(t, {
    python: INSTANT_PYTHON,
    insecureNoSandbox: true,
  });
  const { accountId } = await installation.accounts.find(member);
  const { jobId } = await service.enqueue({ owner: accountId, className: 'A', code: 'x' });
  const { usage } = await service.wait(jobId);
  t.match(usage, { stagesMs: { checking: Number }, peakMemoryBytes: null });
  const client = await signedIn(t, port, member);
  const { text } = await client.get(`/dashboard/jobs/${jobId}`);
  t.match(text, /Checking the video<\/dt><dd class="number">\d/);
  t.match(text, 'too short to measure');

  await service.pauseQueue();
  const waiting = await service.enqueue({ owner: accountId, className: 'B', code: 'x' });
  t.notMatch((await client.get(`/dashboard/jobs/${waiting.jobId}`)).text, 'Peak memory');
  await service.cancel(waiting.jobId);
  t.notMatch((await client.get(`/dashboard/jobs/${waiting.jobId}`)).text, 'Peak memory');
});
