import t from 'tap';
import {
  launchBrowser,
  openPage,
  peopledAppliance,
  replaceText,
  signIn,
  until,
} from '../dashboard/browser.ts';

const CODE = `from manim import *

class Hello(Scene):
    def construct(self):
        self.play(Create(Circle()), subcaption="A circle")
        self.wait(1)
        self.play(FadeIn(Square()))
`;
/** Renders until it is canceled. */
const ENDLESS = `from manim import *

class Endless(Scene):
    def construct(self):
        square = Square()
        while True:
            self.play(Rotate(square))
`;
const VIDEO = `document.querySelector('#result video')`;

t.test('a scene is written, rendered, watched and corrected in the playground', async (t) => {
  const { url, member, installation, service } = await peopledAppliance(t, { renders: true });
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/playground`);
  await page.locator('html[data-connected]').waitFor();
  const write = (code: string) => replaceText(page, code);
  await write(CODE);
  await page.locator('select[name=className] option[value=Hello]').waitFor({ state: 'attached' });
  await page.keyboard.press('Control+Enter');
  await until(page, `${VIDEO}?.currentTime > 0.3`);
  t.equal(await page.evaluate(`${VIDEO}.error`), null, 'it plays by itself');
  await until(page, `${VIDEO}.textTracks[0].mode === 'showing' && ${VIDEO}.textTracks[0].cues?.length === 1`);
  const [job] = await service.list({});
  const { accountId } = await installation.accounts.find(member);
  t.match(job, {
    owner: accountId,
    className: 'Hello',
    quality: 'low',
    status: 'completed',
    creditsCost: Number,
  });
  t.ok((job?.creditsCost ?? 0) > 0, 'the account of the session is charged');
  t.same(await service.plays(String(job?.jobId)), [
    { line: 5, shows: 'Create(Circle)', startSeconds: 0, seconds: 1 },
    { line: 6, shows: 'wait', startSeconds: 1, seconds: 1 },
    { line: 7, shows: 'FadeIn(Square)', startSeconds: 2, seconds: 1 },
  ]);

  await page.evaluate(`${VIDEO}.pause()`);
  await page.getByRole('button', { name: /FadeIn\(Square\)/ }).click();
  await until(page, `Math.abs(${VIDEO}.currentTime - 2) < 0.05`);
  await page.locator('.plays li.now', { hasText: 'FadeIn(Square)' }).waitFor();
  await page.locator('.cm-played', { hasText: 'FadeIn(Square' }).waitFor();
  await page.locator('.timeline svg rect[data-play="1"]').click();
  await until(page, `Math.abs(${VIDEO}.currentTime - 1) < 0.05`);
  await page.getByRole('link', { name: 'line 5' }).click();
  await page.locator('.cm-activeLine', { hasText: 'Create(Circle' }).waitFor();

  await write(CODE.replace('Square', 'Sqare'));
  await page.keyboard.press('Control+Enter');
  await page.locator('.cm-faulty', { hasText: 'Sqare' }).waitFor({ timeout: 60_000 });
  t.match(await page.locator('.cm-fault').textContent(), "NameError: name 'Sqare' is not defined");
  await page.reload();
  await page.locator('.cm-faulty', { hasText: 'Sqare' }).waitFor();

  await write(CODE);
  await page.keyboard.press('Control+Enter');
  await until(page, `${VIDEO}?.currentTime > 0.3`);
  await page.evaluate(`${VIDEO}.pause()`);
  await page.locator('.timeline svg rect[data-play="2"]').click();
  await until(page, `Math.abs(${VIDEO}.currentTime - 2) < 0.05`);
  const rendered = page.url();
  await page.getByRole('button', { name: 'Render' }).click();
  await page.waitForURL((now) => now.href !== rendered);
  await until(page, `${VIDEO}?.readyState > 1`);
  t.ok(Number(await page.evaluate(`${VIDEO}.currentTime`)) >= 2, 'the next video continues at the place');

  await page.getByRole('link', { name: 'Open job' }).click();
  await page.getByRole('button', { name: /FadeIn\(Square\)/ }).click();
  await page.locator('pre .played', { hasText: 'FadeIn(Square' }).waitFor();
});

t.test('what is wrong is shown while a scene is written, and mended by a click', async (t) => {
  const { url, member, service } = await peopledAppliance(t, { renders: true });
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/playground`);
  await page.locator('html[data-connected]').waitFor();
  const fault = page.locator('.cm-fault');
  for (const [right, wrong, button] of [
    ['self.wait', 'self.wiat', 'Write wait'],
    ['Circle()', 'Circle(radios=2)', 'Write radius'],
    ['FadeIn', 'FadeInn', 'Write FadeIn'],
  ] as const) {
    await replaceText(page, CODE.replace(right, wrong));
    await page.locator('.cm-faulty', { hasText: wrong.replace(/.*[.(]|=.*/g, '') }).waitFor();
    await page.getByRole('button', { name: button, exact: true }).click();
    await fault.waitFor({ state: 'detached' });
  }
  t.equal(await page.locator('textarea[name=code]').inputValue(), CODE);
  await replaceText(page, CODE.replace('self.wait(1)', 'self.wait(1'));
  t.match(await fault.textContent(), /was never closed/);
  t.same(await service.list({}), [], 'nothing was rendered');
});

t.test('all that is certainly wrong is shown at once, and each is mended by itself', async (t) => {
  const { url, member } = await peopledAppliance(t, { renders: true });
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/playground`);
  await page.locator('html[data-connected]').waitFor();
  const faults = page.locator('.cm-fault');
  const ran = () => page.waitForResponse((response) => response.url().endsWith('/playground/check'));
  const isRun = ran();
  await replaceText(page, CODE.replace('Circle()', 'Circle(radios=2)').replace('FadeIn', 'FadeInn'));
  await faults.nth(1).waitFor();
  t.equal(await page.locator('.cm-faulty').count(), 2);
  t.same(
    (await faults.allTextContents()).map((text) => text.split(' ')[0]),
    ['TypeError:', 'NameError:'],
  );
  await isRun;
  // The answer of the dry run is the first of them.
  await page.waitForTimeout(100);
  t.equal(await faults.count(), 2);
  const again = ran();
  await page.getByRole('button', { name: 'Write FadeIn', exact: true }).click();
  await page.locator('.cm-faulty', { hasText: 'FadeInn' }).waitFor({ state: 'detached' });
  t.equal(await faults.count(), 1, 'the other one stays');
  await again;
  await page.getByRole('button', { name: 'Write radius', exact: true }).click();
  await faults.waitFor({ state: 'detached' });
  t.equal(
    await page.locator('textarea[name=code]').inputValue(),
    CODE.replace('Circle()', 'Circle(radius=2)'),
  );
  // An error that the dry run alone can find joins what was read.
  await replaceText(
    page,
    CODE.replace('Circle()', 'Circle(**{"radi" + "os": 2})').replace('FadeIn', 'FadeInn'),
  );
  await faults.nth(1).waitFor();
  t.match(await faults.allTextContents(), [/radios/, /FadeInn/]);
});

t.test('a render shows its progress, outlives a reload, and is canceled from the page', async (t) => {
  const { url, member, service } = await peopledAppliance(t, { renders: true });
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/playground`);
  await page.locator('html[data-connected]').waitFor();
  await replaceText(page, ENDLESS);
  await page.locator('select[name=className] option[value=Endless]').waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Render' }).click();
  await page.locator('#result .picture img').waitFor({ timeout: 60_000 });
  await page.getByText(/frames, \d+\.\d s of video/).waitFor();
  await page.reload();
  await page.locator('#result .picture img').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'Canceled' }).waitFor();
  t.match(page.url(), '/dashboard/playground?job=');
  t.match(await service.list({}), [{ status: 'failed', error: 'Canceled' }]);
});
