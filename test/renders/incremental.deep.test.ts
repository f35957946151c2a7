import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { scenepress } from '../appliance/command.ts';
import { launchBrowser, openPage } from '../dashboard/browser.ts';
import { artifactPath, render, startService } from '../fixtures/renders.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { inspectVideo } from '../fixtures/video.ts';

const PLAYS = 12;
/** Plays of a second; the first `same` are those of all such scenes. At 15 frames a second. */
const lecture = (same: number) => `from manim import *


class Lecture(Scene):
    def construct(self):
        for number in range(${PLAYS}):
            shape = Square() if number < ${same} else Circle()
            shape.shift(RIGHT * (number % 5 - 2))
            self.play(GrowFromCenter(shape))
            self.play(shape.animate.shift(UP * number / 9))
            self.remove(shape)
`;
const FRAMES = PLAYS * 30;
/** Without those of the last shape, whose first frame is empty. */
const KEPT = FRAMES - 29;

/** Plays a video in Chromium to its end. */
async function assertPlays(t: Test, video: Buffer): Promise<void> {
  const page = await openPage(t, await launchBrowser(t));
  await page.setContent(`<video muted src="data:video/mp4;base64,${video.toString('base64')}"></video>`);
  const played = await page.evaluate(`(async () => {
    const video = document.querySelector('video');
    video.playbackRate = 8;
    await video.play();
    await new Promise((resolve) => {
      video.onended = resolve;
      video.onerror = resolve;
    });
    const { corruptedVideoFrames, totalVideoFrames } = video.getVideoPlaybackQuality();
    return { error: video.error, duration: video.duration, corruptedVideoFrames, hasFrames: totalVideoFrames > 0 };
  })()`);
  t.same(played, { error: null, duration: FRAMES / 15, corruptedVideoFrames: 0, hasFrames: true });
}

t.test('an edited scene is rendered with the frames that are equal in its last video', async (t) => {
  const service = await startService(t);
  const first = await render(service, { owner: 'ada', className: 'Lecture', code: lecture(PLAYS) });
  t.equal(first.usage?.copiedFrames, 0);
  const again = await render(service, { owner: 'ada', className: 'Lecture', code: lecture(PLAYS) });
  t.equal(again.usage?.copiedFrames, FRAMES);
  const edited = await render(service, { owner: 'ada', className: 'Lecture', code: lecture(PLAYS - 1) });
  t.equal(edited.usage?.copiedFrames, KEPT);
  await assertPlays(t, await readFile(await artifactPath(service, edited, 'video.mp4')));
  const other = await render(service, { owner: 'bob', className: 'Lecture', code: lecture(PLAYS) });
  t.equal(other.usage?.copiedFrames, 0, 'not those of another account');
});

t.test('scenepress render keeps the last video of a scene', async (t) => {
  const cwd = await temporaryFolder(t);
  const cache = await temporaryFolder(t);
  const env = { XDG_CACHE_HOME: cache };
  const rendered = async (same: number, ...flags: string[]) => {
    await writeFile(join(cwd, 'scene.py'), lecture(same));
    const args = ['render', 'scene.py', '-ql', '--json', '--keep-warm', '0', ...flags];
    const { stdout } = await scenepress(args, { cwd, env, renders: true });
    const { status, usage, video } = JSON.parse(stdout);
    t.equal(status, 'completed');
    const { frames } = await inspectVideo(video);
    t.equal(frames, FRAMES);
    return usage.copiedFrames;
  };
  t.equal(await rendered(PLAYS), 0);
  t.equal((await readdir(join(cache, 'scenepress/videos'))).length, 2);
  t.equal(await rendered(PLAYS - 1), KEPT);
  t.equal(await rendered(PLAYS - 1, '--disable_caching'), 0);
  t.equal(await rendered(PLAYS - 1), FRAMES, 'the video before is kept');
  t.equal(await rendered(PLAYS - 1, '--flush_cache'), 0);
});
