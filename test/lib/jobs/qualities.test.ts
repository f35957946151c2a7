import t from 'tap';
import { QUALITIES } from '../../../lib/jobs/job.ts';
import { defaultFps, frameSizeOf } from '../../../lib/jobs/qualities.ts';

t.test('qualities have the sizes and frame rates of Manim’s presets', async (t) => {
  const presets = QUALITIES.map((quality) => {
    const { widthPx, heightPx } = frameSizeOf(quality, '16:9');
    return [quality, widthPx, heightPx, defaultFps(quality)];
  });
  t.same(presets, [
    ['low', 854, 480, 15],
    ['medium', 1280, 720, 30],
    ['high', 1920, 1080, 60],
    ['twok', 2560, 1440, 60],
    ['fourk', 3840, 2160, 60],
  ]);
});

t.test('portrait swaps width and height', async (t) => {
  t.same(frameSizeOf('low', '9:16'), { widthPx: 480, heightPx: 854 });
});
