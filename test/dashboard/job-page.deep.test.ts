import { join } from 'node:path';
import t from 'tap';
import { usageCard } from '../../appliance/dashboard/pages/usage-view.ts';
import { launchBrowser, openPage, peopledAppliance, signIn } from './browser.ts';
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
  t.match(usage, { stagesMs: { finishing: Number }, workMs: { tex: 1 }, peakMemoryBytes: null });
  const client = await signedIn(t, port, member);
  const { text } = await client.get(`/dashboard/jobs/${jobId}`);
  t.match(text, /TeX<\/dt><dd class="number">0\.0 s/);
  t.match(text, /Completing the video<\/dt><dd class="number">\d/);
  t.match(text, 'too short to measure');

  await service.pauseQueue();
  const waiting = await service.enqueue({ owner: accountId, className: 'B', code: 'x' });
  t.notMatch((await client.get(`/dashboard/jobs/${waiting.jobId}`)).text, 'Peak memory');
  await service.cancel(waiting.jobId);
  t.notMatch((await client.get(`/dashboard/jobs/${waiting.jobId}`)).text, 'Peak memory');
});

t.test('the page shows hidden characters of the code, and lines as Python counts them', async (t) => {
  const { port, member, installation, service } = await peopledAppliance(t);
  const { accountId } = await installation.accounts.find(member);
  const code = 'a = "\u202e\u0007b"\r\n\tc = "👨‍👩‍👧 é"\rd\r\n';
  const { jobId } = await service.enqueue({ owner: accountId, className: 'A', code });
  const { text } = await (await signedIn(t, port, member)).get(`/dashboard/jobs/${jobId}`);
  const [, numbers = ''] = /<pre class="lines" aria-hidden="true">(.*?)<\/pre>/s.exec(text) ?? [];
  t.equal(numbers, '1\n2\n3');
  const [, shown = ''] = /<pre tabindex="0" id="code">\n(.*?)<\/pre>/s.exec(text) ?? [];
  t.same(shown.replaceAll(/<[^>]+>/g, '').split('\n'), [
    'a = &quot;⟨U+202E⟩⟨U+0007⟩b&quot;',
    '\tc = &quot;👨‍👩‍👧 é&quot;',
    'd',
    '',
  ]);
});

t.test('a long code is shown around its error, and copied whole', async (t) => {
  const { url, port, member, installation, service } = await peopledAppliance(t, {
    python: INSTANT_PYTHON,
    insecureNoSandbox: true,
  });
  const { accountId } = await installation.accounts.find(member);
  const code = Array.from({ length: 30_000 }, (_, index) => `# ${index + 1}`).join('\n');
  const ended = `${code}\n# fail: NameError: x\nline 29000: x`;
  const { jobId } = await service.enqueue({ owner: accountId, className: 'A', code: ended });
  await service.wait(jobId);
  const { text } = await (await signedIn(t, port, member)).get(`/dashboard/jobs/${jobId}`);
  t.match(text, 'Lines 28,900 to 30,002 of 30,002.');
  t.match(text, '<mark id="line-29000"># 29000</mark>\n# 29001\n');
  const page = await openPage(t, await launchBrowser(t), {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/jobs/${jobId}`);
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  t.equal(await page.evaluate('navigator.clipboard.readText()'), ended);
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download the code' }).click();
  t.equal((await download).suggestedFilename(), 'scene.py');
});

t.test('a job is rendered again with other formats', async (t) => {
  const { port, member, installation, service } = await peopledAppliance(t, {
    python: INSTANT_PYTHON,
    insecureNoSandbox: true,
  });
  const { accountId } = await installation.accounts.find(member);
  const request = {
    owner: accountId,
    className: 'A',
    code: 'x',
    formats: ['gif'],
    stills: ['last'],
    fromPlay: 2,
  } as const;
  const { jobId } = await service.enqueue(request);
  await service.wait(jobId);
  const client = await signedIn(t, port, member);
  const { text } = await client.get(`/dashboard/jobs/${jobId}`);
  t.match(text, 'name="formats" value="webm"');
  t.match(text, 'From play 2 on');
  t.notMatch(text, /name="formats" value="(gif|mp4|stills)"/);
  const path = `/dashboard/jobs/${jobId}/render-again`;
  const answer = await client.post(path, { formats: ['webm', 'mov', 'avi'] });
  const again = await service.wait(String(answer.headers.location).split('/').at(-1) ?? '');
  t.strictSame(again.formats, ['mp4', 'gif', 'webm', 'stills', 'mov']);
  const plain = await client.post(path, {});
  const same = await service.get(String(plain.headers.location).split('/').at(-1) ?? '');
  t.strictSame(same.formats, ['mp4', 'gif', 'stills']);
});

t.test('a forgotten job cannot be forgotten again', async (t) => {
  const { port, member, installation, service } = await peopledAppliance(t);
  const { accountId } = await installation.accounts.find(member);
  const { jobId } = await service.enqueue({ owner: accountId, className: 'A', code: 'x' });
  await service.cancel(jobId);
  const client = await signedIn(t, port, member);
  const path = `/dashboard/jobs/${jobId}/forget`;
  t.match((await client.get(path)).text, 'Forget <strong>A</strong>?');
  await service.forget(jobId);
  t.match(await client.get(path), { status: 303, headers: { location: `/dashboard/jobs/${jobId}` } });
});

t.test('the error of an action has a link back to its page', async (t) => {
  const { url, port, member, installation, service } = await peopledAppliance(t);
  const { accountId } = await installation.accounts.find(member);
  const { jobId } = await service.enqueue({ owner: accountId, className: 'A', code: 'x' });
  const page = await openPage(t, await launchBrowser(t), { javaScriptEnabled: false });
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/jobs/${jobId}?from=list`);
  await service.cancel(jobId);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('has already ended').waitFor();
  await page.getByRole('link', { name: 'Back to the page' }).click();
  await page.getByRole('heading', { name: 'Canceled' }).waitFor();
  t.equal(page.url(), `${url}/dashboard/jobs/${jobId}?from=list`);

  const client = await signedIn(t, port, member);
  t.notMatch((await client.get('/dashboard/jobs/nope')).text, 'Back to the page');
  t.notMatch((await client.post('/dashboard/jobs/nope/cancel', {})).text, 'Back to the page');
});

t.test('without times by kind of work, the page shows those by stage', async (t) => {
  const usage = { stagesMs: { loading: 1000, rendering: 3000 }, peakMemoryBytes: 2_000_000, copiedFrames: 0 };
  const card = usageCard({ usage });
  if (!card) return void t.fail('there is a card');
  t.match(card.text, 'Drawing frames</dt><dd class="number">3.0 s');
  t.match(card.text, 'max="4000" value="1000"');
  t.match(card.text, '2.0 MB');
  t.notMatch(card.text, 'TeX');
  t.notMatch(card.text, 'Copied');
  t.match(usageCard({ usage: { ...usage, copiedFrames: 1 } }), {
    text: /Copied from the last video<.*>1 frame</,
  });
  t.equal(usageCard({ usage: null }), false);
});
