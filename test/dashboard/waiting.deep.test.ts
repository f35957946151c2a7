import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { launchBrowser, openPage, peopledAppliance, replaceText, signIn } from './browser.ts';

const INSTANT = {
  python: join(import.meta.dirname, '../fixtures/instant-renderer/bin/python'),
  insecureNoSandbox: true,
};
const SCENE = 'class One(Scene):\n    pass\n';

/** A member, an open page, and a scene that goes on until it is told. */
async function lingering(t: Test) {
  const appliance = await peopledAppliance(t, { ...INSTANT, renderTimeoutSeconds: 300 });
  const { url, member, installation, service, dataDir } = appliance;
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  const { accountId } = await installation.accounts.find(member);
  const enqueue = async (code: string) =>
    (await service.enqueue({ owner: accountId, className: 'One', code })).jobId;
  const jobId = await enqueue('linger');
  const go = () => writeFileSync(join(dataDir, 'work', 'w0', 'go'), '');
  return { ...appliance, page, jobId, enqueue, go };
}

t.test('a render that goes on shows how long it has taken, and how long it may', async (t) => {
  const { url, page, jobId, go } = await lingering(t);
  await page.goto(`${url}/dashboard/playground?job=${jobId}`);
  await page.getByText(/^1 s; at most 5 min\.$/).waitFor();
  await page.getByText(/^3 s; at most 5 min\.$/).waitFor();
  await page.reload();
  await page.getByText(/^[3-5] s; at most 5 min\.$/).waitFor();
  const plain = await openPage(t, await launchBrowser(t), { javaScriptEnabled: false });
  await signIn(plain, url, 'member@example.org');
  await plain.goto(`${url}/dashboard/jobs/${jobId}`);
  await plain.getByText(/^Since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC; at most 5 min\.$/).waitFor();
  go();
});

t.test('a job says why it waits: for a worker, or in a paused queue', async (t) => {
  const { url, page, enqueue, service, go } = await lingering(t);
  const jobId = await enqueue('x');
  await page.goto(`${url}/dashboard/playground?job=${jobId}`);
  await page.getByText('Waiting for a worker.').waitFor();
  await service.pauseQueue();
  await page.getByText('The queue is paused: this render starts when an administrator resumes it.').waitFor();
  await service.resumeQueue();
  await page.getByText('Waiting for a worker.').waitFor();
  go();
  await page.locator('video').waitFor();
});

t.test("an account's own limit of waiting jobs is not called a full queue", async (t) => {
  const { url, page, enqueue, service, installation, member } = await lingering(t);
  await service.pauseQueue();
  await enqueue('x');
  await installation.administration.accounts.setLimits({ account: member, maxQueued: 1 });
  await page.goto(`${url}/dashboard/playground`);
  await replaceText(page, SCENE);
  await page.keyboard.press('Control+Enter');
  await page
    .locator('#problem')
    .getByText('This account has 1 waiting job already; no more may wait. Try again when one has started.')
    .waitFor();
});
