import type { AspectRatio, Quality } from './job.ts';

/** Frame size (for `16:9`) and rate of a quality. */
interface QualityDefaults {
  widthPx: number;
  heightPx: number;
  fps: number;
}

/** Manim's own presets. */
const DEFAULTS: Record<Quality, QualityDefaults> = {
  low: { widthPx: 854, heightPx: 480, fps: 15 },
  medium: { widthPx: 1280, heightPx: 720, fps: 30 },
  high: { widthPx: 1920, heightPx: 1080, fps: 60 },
  twok: { widthPx: 2560, heightPx: 1440, fps: 60 },
  fourk: { widthPx: 3840, heightPx: 2160, fps: 60 },
};

/** The frame size in pixels; portrait swaps width and height. */
export function frameSizeOf(
  quality: Quality,
  aspectRatio: AspectRatio,
): { widthPx: number; heightPx: number } {
  const { widthPx, heightPx } = DEFAULTS[quality];
  return aspectRatio === '9:16' ? { widthPx: heightPx, heightPx: widthPx } : { widthPx, heightPx };
}

/** The default frame rate. */
export function defaultFps(quality: Quality): number {
  return DEFAULTS[quality].fps;
}
