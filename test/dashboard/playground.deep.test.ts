import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { PLAYGROUND_ASSET, SCRIPT_ASSET } from '../../appliance/dashboard/assets/assets.ts';
import { EXAMPLES } from '../../appliance/dashboard/assets/examples.ts';
import { SNIPPETS, type SnippetName } from '../../appliance/dashboard/snippets.ts';
import { send } from '../appliance/listening-appliance.ts';
import {
  accessibilityFaults,
  launchBrowser,
  openPage,
  peopledAppliance,
  replaceText,
  signIn,
} from './browser.ts';
import { signedIn } from './client.ts';

const INSTANT = {
  python: join(import.meta.dirname, '../fixtures/instant-renderer/bin/python'),
  insecureNoSandbox: true,
};
const ONE = 'class One(Scene):\n    pass\n';
const TWO = `${ONE}\nclass Two(Scene):\n    pass\n`;

t.test('the scripts of the page are small', async (t) => {
  const scripts = [SCRIPT_ASSET, PLAYGROUND_ASSET].map(({ content }) => Buffer.from(content));
  const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0);
  t.ok(sum(scripts.map(({ length }) => length)) < 400_000);
  t.ok(sum(scripts.map((script) => gzipSync(script).length)) < 150_000);
});

t.test('only the playground loads its script, which is compressed and cached', async (t) => {
  const { port, member } = await peopledAppliance(t);
  const client = await signedIn(t, port, member);
  const { path, content } = PLAYGROUND_ASSET;
  t.match((await client.get('/dashboard/playground')).text, path);
  t.notMatch((await client.get('/dashboard')).text, path);
  const compressed = await send(port, path, { headers: { 'accept-encoding': 'gzip' } });
  t.match(compressed.headers, {
    'content-encoding': 'gzip',
    vary: /accept-encoding/i,
    'cache-control': /immutable/,
  });
  t.ok(compressed.bytes.length < 150_000);
  t.equal((await send(port, path, {})).text, content);
});

t.test('every example is valid Python with a title, a picture and one scene', async (t) => {
  t.ok(EXAMPLES.length >= 12);
  for (const { name, title, code, className, picture } of EXAMPLES) {
    const { status, stderr } = spawnSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
      input: code,
      encoding: 'utf8',
    });
    t.equal(status, 0, `${name}: ${stderr}`);
    t.same(
      [...code.matchAll(/^class (\w+)\(\w*Scene\):/gm)].map(([, scene]) => scene),
      [className],
    );
    t.match([title, picture], [/^[A-Z].{5,40}$/, /^\/dashboard\/assets\/.*\.jpg$/], name);
  }
});

t.test('the only scene is found; of several, one is chosen', async (t) => {
  const { port, member, service } = await peopledAppliance(t, INSTANT);
  const client = await signedIn(t, port, member);
  const render = (fields: Record<string, string>) => client.post('/dashboard/playground', fields);
  const alone = await render({
    code: ONE.replaceAll('\n', '\r\n'),
    className: '',
    quality: 'low',
    fps: '12',
  });
  t.match([alone.status, alone.headers.location], [303, /^\/dashboard\/playground\?job=\w+$/]);
  const jobId = String(alone.headers.location).split('=')[1] ?? '';
  t.match(await service.get(jobId), { className: 'One', quality: 'low', aspectRatio: '16:9', fps: 12 });
  t.match((await client.get(`/dashboard/playground?job=${jobId}`)).text, `\n${ONE}</textarea>`);

  const several = await render({ code: TWO, className: '', quality: 'low' });
  t.match([several.status, several.text], [400, /Choose which scene to render: One, Two\./]);
  t.match(several.text, '<option value="Two"');
  t.equal((await render({ code: TWO, className: 'Two', quality: 'low' })).status, 303);
  t.match((await render({ code: 'x = 1', className: '' })).text, 'The code defines no scene');
});

t.test('why a scene cannot be rendered is shown above the form, which keeps its input', async (t) => {
  const { port, member } = await peopledAppliance(t, INSTANT);
  const client = await signedIn(t, port, member);
  for (const [fields, status, message] of [
    [{ code: '' }, 400, 'code is required'],
    [{ className: '<b>' }, 400, 'className must be a valid Python identifier'],
    [{ fps: '0' }, 400, 'fps must be a positive integer'],
    [{ fps: 'x' }, 400, 'fps must be a positive integer'],
    [{ quality: 'best' }, 400, 'quality must be one of'],
    [{ code: `#${'x'.repeat(205_000)}` }, 400, 'longer than 200 KiB'],
  ] as const) {
    const answer = await client.post('/dashboard/playground', { code: ONE, className: 'One', ...fields });
    t.match([answer.status, answer.text], [status, message]);
    if (!('code' in fields)) t.match(answer.text, `\n${ONE}</textarea>`);
  }
});

t.test('the snippets send the request', async (t) => {
  const { url, key, installation, service } = await peopledAppliance(t, INSTANT);
  const code = `${ONE}# 'quotes' "too", \\ and $HOME \`x\` 数学\nJSON\n`;
  const request = { code, className: 'One', quality: 'high', aspectRatio: '9:16', fps: 24 };
  const commands: Record<SnippetName, [string, string[]]> = {
    curl: ['bash', ['-c']],
    node: [process.execPath, ['--input-type=module', '-e']],
    python: ['python3', ['-c']],
  };
  for (const [name, write] of Object.entries(SNIPPETS)) {
    const [command, args] = commands[name as SnippetName];
    const env = { PATH: process.env['PATH'], SCENEPRESS_KEY: key, NODE_OPTIONS: '' };
    const { stdout } = await promisify(execFile)(command, [...args, write(request, url)], { env });
    const jobId = /jobId\W+(\w+)/.exec(stdout)?.[1] ?? '';
    t.match(
      await service.get(jobId),
      { className: 'One', quality: 'high', aspectRatio: '9:16', fps: 24 },
      name,
    );
    t.equal((await installation.administration.jobs.showDetails({ jobId })).code, code, name);
  }
});

t.test('without scripts, a scene is written and rendered in a form', async (t) => {
  const { url, member } = await peopledAppliance(t, INSTANT);
  const page = await openPage(t, await launchBrowser(t), { javaScriptEnabled: false });
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/playground`);
  await page.getByRole('textbox', { name: 'Code' }).fill(`${ONE}# fail`);
  await page.getByLabel('Scene').selectOption('');
  await page.getByRole('button', { name: 'Render' }).click();
  await page.waitForURL(/\?job=/);
  await page.goto(page.url());
  t.equal(await page.getByRole('textbox', { name: 'Code' }).inputValue(), `${ONE}# fail`);
  await page.getByRole('link', { name: 'A tree that grows' }).click();
  t.match(await page.getByRole('textbox', { name: 'Code' }).inputValue(), 'class Tree(Scene)');
});

/** The playground with an editor. */
async function editing(t: Test, path = ''): Promise<{ page: Page; text: () => Promise<string> }> {
  const { url, member } = await peopledAppliance(t, INSTANT);
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/playground${path}`);
  await page.locator('.cm-content').focus();
  const text = async () => (await page.locator('.cm-line').allTextContents()).join('\n');
  return { page, text };
}

t.test('the playground shows why a render cannot be canceled', async (t) => {
  const { url, member, installation, service } = await peopledAppliance(t, INSTANT);
  const { accountId } = await installation.accounts.find(member);
  await service.pauseQueue();
  const { jobId } = await service.enqueue({ owner: accountId, className: 'One', code: ONE });
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/playground?job=${jobId}`);
  const cancel = page.locator('#result').getByRole('button', { name: 'Cancel' });
  await page.locator('input[name=csrf]').evaluateAll((fields) => {
    for (const field of fields) field.setAttribute('value', 'old');
  });
  await cancel.click();
  await page.locator('#problem').getByText('The form has expired or was sent from another site.').waitFor();
  await page.route('**/cancel', (route) => route.fulfill({ status: 503, body: 'away' }));
  await page.reload();
  await cancel.click();
  await page.locator('#problem').getByText('The server answered with status 503. Try again.').waitFor();
  await page.unroute('**/cancel');
  await page.reload();
  await cancel.click();
  await page.getByText('Canceled').waitFor();
});

t.test('Tab indents in the editor; Esc, then Tab leaves it', async (t) => {
  const { page, text } = await editing(t);
  const isFocused = () => page.evaluate(`document.activeElement.id === 'editor'`);
  await replaceText(page, 'x');
  await page.keyboard.press('Tab');
  t.equal(await text(), '    x');
  t.equal(await isFocused(), true);
  await page.keyboard.press('Enter');
  await page.keyboard.type('yz');
  t.equal(await text(), '    x\nyz');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('    x');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Tab');
  t.equal(await isFocused(), false);
  t.equal(await text(), '    x');
});

t.test('a draft survives a reload, and opening an example', async (t) => {
  const { page, text } = await editing(t);
  await replaceText(page, `${TWO}# a draft`);
  await page.getByLabel('Quality').selectOption('high');
  await page.reload();
  await page.locator('.cm-content').waitFor();
  t.match(await text(), '# a draft');
  t.equal(await page.getByLabel('Quality').inputValue(), 'high');

  await page.goto(`${page.url()}?example=09-tree`);
  await page.getByText('Drafts that were not rendered are kept:').waitFor();
  t.match(await text(), 'class Tree(Scene)');
  t.same(await accessibilityFaults(page), []);
  await page.locator('#kept button').click();
  t.match(await text(), '# a draft');
  t.equal(await page.getByLabel('Quality').inputValue(), 'high');

  await page.getByRole('link', { name: 'A tree that grows' }).click();
  await page.locator('.cm-line', { hasText: 'class Tree(Scene)' }).waitFor();
  await page.locator('.cm-content').focus();
  await page.keyboard.press('Control+Z');
  t.match(await text(), '# a draft', 'opening an example can be undone');
});

t.test('scenes are offered as they are written, and the snippets follow', async (t) => {
  const { page } = await editing(t);
  await replaceText(page, TWO);
  await page.locator('select[name=className] option[value=Two]').waitFor({ state: 'attached' });
  await page.getByLabel('Scene').selectOption('Two');
  await page.getByLabel('Format').selectOption('9:16');
  await page.getByText('curl', { exact: true }).click();
  t.match(await page.locator('#snippet-curl').textContent(), /"className":"Two".*"aspectRatio":"9:16"/);
});
