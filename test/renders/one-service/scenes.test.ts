import t from 'tap';
import { artifactPath, render, sharedService } from '../../fixtures/renders.ts';
import { greysOf, inspectVideo } from '../../fixtures/video.ts';

const service = await sharedService();
const WIDTH_PX = 854;
const FPS = 15;

for (const { className, what, frames } of [
  { className: 'Words', what: 'text', frames: 15 },
  { className: 'Formula', what: 'a formula', frames: 15 },
  { className: 'Graph', what: 'a graph with axes', frames: 15 },
  { className: 'Picture', what: 'a picture', frames: 1 },
  { className: 'Solid', what: 'a scene in three dimensions', frames: 8 },
]) {
  t.test(`${what} is visible in the video`, async (t) => {
    const job = await render(service, { className });
    t.match(job, { status: 'completed', error: null });
    const video = await artifactPath(service, job, 'video.mp4');
    t.equal((await inspectVideo(video)).frames, frames);
    const lastFrame = await greysOf(video, (frames - 1) / FPS);
    const lit = lastFrame.filter((grey) => grey > 100).length / lastFrame.length;
    t.ok(lit > 0.001 && lit < 0.5, `${lit} of the picture is lit`);
  });
}

t.test('a moving camera changes the picture', async (t) => {
  const job = await render(service, { className: 'Panning' });
  t.match(job, { status: 'completed', error: null });
  const video = await artifactPath(service, job, 'video.mp4');
  const [first, last] = [litColumns(await greysOf(video)), litColumns(await greysOf(video, 14 / FPS))];
  t.ok(first.from > WIDTH_PX / 2, 'the dot is on the right');
  t.ok(last.from < WIDTH_PX / 2 && last.to > WIDTH_PX / 2, 'the dot is in the middle');
  t.ok(last.to - last.from > 2 * (first.to - first.from), 'the camera has come closer');
});

t.test('in portrait, Manim’s frame is 8 units wide', async (t) => {
  const code = `from manim import *

class Main(Scene):
    def construct(self):
        self.add(Rectangle(width=config.frame_width / 2, height=1, fill_opacity=1, color=WHITE))
        assert (config.frame_width, round(config.frame_height, 2)) == (8, 14.22), config.frame_width
`;
  const job = await render(service, { code, aspectRatio: '9:16' });
  t.match(job, { status: 'completed', error: null });
  const { from, to } = litColumns(await greysOf(await artifactPath(service, job, 'video.mp4')), 480);
  t.ok(Math.abs(to - from - 240) < 8, `${from} to ${to} of 480`);
});

/** The first and last column of a picture that contain light pixels. */
function litColumns(greys: Buffer, widthPx = WIDTH_PX): { from: number; to: number } {
  const columns = [...greys.entries()].filter(([, grey]) => grey > 60).map(([at]) => at % widthPx);
  return {
    from: columns.reduce((least, column) => Math.min(least, column), widthPx),
    to: columns.reduce((most, column) => Math.max(most, column), 0),
  };
}
