import t from 'tap';
import { artifactPath, render, sharedService } from '../../fixtures/renders.ts';
import { inspectVideo } from '../../fixtures/video.ts';

const service = await sharedService();

for (const { quality, widthPx, heightPx, fps } of [
  { quality: 'low', widthPx: 854, heightPx: 480, fps: 15 },
  { quality: 'medium', widthPx: 1280, heightPx: 720, fps: 30 },
  { quality: 'high', widthPx: 1920, heightPx: 1080, fps: 60 },
  { quality: 'twok', widthPx: 2560, heightPx: 1440, fps: 60 },
  { quality: 'fourk', widthPx: 3840, heightPx: 2160, fps: 60 },
] as const) {
  t.test(`${quality} is ${widthPx} by ${heightPx} pixels at ${fps} frames per second`, async (t) => {
    const job = await render(service, { className: 'OneFrame', quality });
    t.match(job, { status: 'completed', error: null, quality, aspectRatio: '16:9', fps });
    const video = await inspectVideo(await artifactPath(service, job, 'video.mp4'));
    t.match(video, { widthPx, heightPx, fps, frames: 1, codec: 'h264', pixelFormat: 'yuv420p' });
  });

  t.test(`${quality} in portrait is ${heightPx} by ${widthPx} pixels`, async (t) => {
    const job = await render(service, { className: 'OneFrame', quality, aspectRatio: '9:16' });
    t.match(job, { status: 'completed', error: null, aspectRatio: '9:16' });
    const video = await inspectVideo(await artifactPath(service, job, 'video.mp4'));
    t.match(video, { widthPx: heightPx, heightPx: widthPx, fps, frames: 1 });
  });
}

for (const fps of [1, 7, 60]) {
  t.test(`an animation of one second at ${fps} fps has ${fps} frames`, async (t) => {
    const job = await render(service, { className: 'Growing', fps });
    t.match(job, { status: 'completed', error: null, fps });
    const video = await inspectVideo(await artifactPath(service, job, 'video.mp4'));
    t.match(video, { fps, frames: fps, seconds: 1 });
  });
}

t.test('a scene that plays nothing becomes a video of one second', async (t) => {
  const job = await render(service, { className: 'Still', quality: 'medium' });
  t.match(job, { status: 'completed', error: null });
  const video = await inspectVideo(await artifactPath(service, job, 'video.mp4'));
  t.match(video, { widthPx: 1280, heightPx: 720, fps: 30, frames: 30, seconds: 1 });
});

t.test('the video’s index precedes its media data', async (t) => {
  const job = await render(service, {});
  const { boxes } = await inspectVideo(await artifactPath(service, job, 'video.mp4'));
  t.ok(boxes.includes('moov') && boxes.includes('mdat'), boxes.join(' '));
  t.ok(boxes.indexOf('moov') < boxes.indexOf('mdat'), boxes.join(' '));
});

t.test('the video has no audio when the scene has no sound', async (t) => {
  const job = await render(service, {});
  t.equal((await inspectVideo(await artifactPath(service, job, 'video.mp4'))).audio, undefined);
});
