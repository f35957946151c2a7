import t from 'tap';
import {
  accessibilityFaults,
  launchBrowser,
  openPage,
  peopledAppliance,
  signIn,
  until,
} from '../dashboard/browser.ts';

const codeOf = (color: string, seconds: number) => `from manim import *

class Hello(Scene):
    def construct(self):
        self.play(Create(Circle(color=${color})), run_time=${seconds})
`;
const TIMES = `[...document.querySelectorAll('#compare video')].map(({ currentTime }) => currentTime)`;

t.test('two videos of a scene play, seek and step together', async (t) => {
  const { url, admin, installation, service } = await peopledAppliance(t, { renders: true });
  const { scenes } = installation.administration;
  const scene = { name: 'Hello', className: 'Hello', settings: { quality: 'low' as const } };
  const { sceneId } = await scenes.create({ account: admin, ...scene, code: codeOf('RED', 2) });
  const first = await scenes.render({ sceneId });
  await scenes.save({ sceneId, revision: 1, code: codeOf('BLUE', 3) });
  const second = await scenes.render({ sceneId });
  for (const { job } of [first, second]) t.equal((await service.wait(job.jobId)).status, 'completed');

  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, admin);
  await page.goto(`${url}/dashboard/scenes/${sceneId}`);
  await page.getByRole('link', { name: 'Compare videos' }).click();
  const controls = page.getByRole('group', { name: 'Both videos' });
  await controls.waitFor();
  t.equal(await page.locator('#compare video[controls]').count(), 0, 'one control for both');
  t.same(await accessibilityFaults(page), []);
  const times = async () => (await page.evaluate(TIMES)) as number[];

  const forward = controls.getByRole('button', { name: 'Frame forward' });
  for (let frame = 0; frame < 3; frame += 1) await forward.click();
  for (const at of await times()) t.equal(Math.floor(at * 15), 3, 'the fourth frame of both');
  await page.locator('h1').click();
  await page.keyboard.press(',');
  for (const at of await times()) t.equal(Math.floor(at * 15), 2);

  await controls.getByRole('slider').focus();
  await page.keyboard.press('End');
  const [left, right] = await times();
  t.ok(
    Math.abs((left ?? 0) - 2) < 0.1 && Math.abs((right ?? 0) - 3) < 0.1,
    'the shorter one shows its last frame',
  );
  await page.keyboard.press('Home');
  t.same(await times(), [0, 0]);

  await page.keyboard.press('Space');
  await controls.getByRole('button', { name: 'Pause' }).waitFor();
  await until(page, `${TIMES}.every((time) => time > 0.8)`);
  const playing = await times();
  t.ok(Math.abs((playing[0] ?? 0) - (playing[1] ?? 9)) < 0.2, 'they are in step while they play');
  await controls.getByRole('button', { name: 'Pause' }).click();
  await until(page, `new Set(${TIMES}).size === 1`);
  await controls.getByRole('button', { name: 'Play' }).click();
  await until(page, `[...document.querySelectorAll('#compare video')].every(({ ended }) => ended)`);
  await controls.getByRole('button', { name: 'Play' }).waitFor();
});
