import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { launchBrowser, openPage, peopledAppliance, signIn } from './browser.ts';
import { signedIn } from './client.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');
const JPEG = readFileSync(join(import.meta.dirname, '../../appliance/dashboard/examples/01-hello.jpg'));

t.test('the library shows what running renders draw, to those who may see them', async (t) => {
  const { url, port, member, installation, service } = await peopledAppliance(t, {
    python: INSTANT_PYTHON,
    insecureNoSandbox: true,
  });
  const { accountId } = await installation.accounts.find(member);
  const running = new Promise<string>((resolve) => {
    service.on('job', ({ jobId, status }) => status === 'running' && resolve(jobId));
  });
  await service.enqueue({ owner: accountId, className: 'Slow', code: 'linger' });
  const jobId = await running;
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  await page.locator('html[data-connected]').waitFor();
  t.equal(await page.locator('[data-picture] img').count(), 0);
  service.emit('preview', jobId, JPEG);
  await page.locator('[data-picture] img').waitFor();
  // It is there again after a reload, and after the list was replaced.
  await page.reload();
  await page.locator('[data-picture] img').waitFor();
  await service.enqueue({ owner: accountId, className: 'Another', code: 'x' });
  await page.getByRole('link', { name: 'Another' }).first().waitFor();
  await page.locator('[data-picture] img').waitFor();

  const path = `/dashboard/jobs/${jobId}/picture`;
  const own = await signedIn(t, port, member);
  const picture = await own.get(path);
  t.match(picture, {
    status: 200,
    headers: { 'content-type': 'image/jpeg', 'x-content-type-options': 'nosniff' },
  });
  t.same(picture.bytes, JPEG);
  await service.cancel(jobId);
  t.equal((await own.get(path)).status, 204, 'gone with the render');
});
