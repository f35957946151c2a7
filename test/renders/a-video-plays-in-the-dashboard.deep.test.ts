import t from 'tap';
import { launchBrowser, openPage, peopledAppliance, signIn } from '../dashboard/browser.ts';

const CODE = `from manim import *

class Hello(Scene):
    def construct(self):
        self.add_subcaption("A circle appears", duration=1)
        # Long enough to be followed.
        self.play(*[Create(Circle(radius=number / 40)) for number in range(1, 120)], run_time=4)
        self.wait(1)
`;

t.test('a render is followed on its page, and its video plays there with captions', async (t) => {
  const { url, admin, installation, service } = await peopledAppliance(t, { renders: true });
  const { accountId } = await installation.accounts.find(admin);
  const page = await openPage(t, await launchBrowser(t));
  await signIn(page, url, admin);
  await installation.administration.queue.pause();
  const { jobId } = await service.enqueue({
    owner: accountId,
    className: 'Hello',
    code: CODE,
    quality: 'low',
  });
  await page.goto(`${url}/dashboard/jobs/${jobId}`);
  await page.getByText('The queue is paused').waitFor();
  await page.locator('html[data-connected]').waitFor();
  await installation.administration.queue.resume();

  // The page isn't loaded again: what follows is pushed.
  await page.getByText(/frames, \d\.\d s of video/).waitFor();
  const video = page.locator('video');
  await video.waitFor({ timeout: 60_000 });
  await page.evaluate(`(async () => {
    const video = document.querySelector('video');
    video.muted = true;
    await video.play();
    await new Promise((resolve) => {
      const look = () => (video.currentTime > 0.3 ? resolve() : requestAnimationFrame(look));
      look();
    });
  })()`);
  t.equal(await page.evaluate(`document.querySelector('video').error`), null);
  t.equal(await page.evaluate(`document.querySelector('video').videoHeight`), 480);
  t.equal(
    await page.evaluate(`document.querySelector('video').textTracks[0].cues[0].text`),
    'A circle appears',
  );
});
