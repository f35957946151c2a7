/** What depends on the quality. */
export interface QualityRow {
  /** Frame size in `16:9`, and the default frame rate: those of Manim's presets. */
  widthPx: number;
  heightPx: number;
  fps: number;
  /** The default price of a second of rendering. */
  creditsPerSecond: number;
  /** Shown in the dashboard. */
  label: string;
  /** Of the option `-q` of the `manim` command. */
  manimLetter: string;
}

const ROWS = {
  low: { widthPx: 854, heightPx: 480, fps: 15, creditsPerSecond: 1, label: 'Low', manimLetter: 'l' },
  medium: { widthPx: 1280, heightPx: 720, fps: 30, creditsPerSecond: 2, label: 'Medium', manimLetter: 'm' },
  high: { widthPx: 1920, heightPx: 1080, fps: 60, creditsPerSecond: 4, label: 'High', manimLetter: 'h' },
  twok: { widthPx: 2560, heightPx: 1440, fps: 60, creditsPerSecond: 8, label: '2K', manimLetter: 'p' },
  fourk: { widthPx: 3840, heightPx: 2160, fps: 60, creditsPerSecond: 16, label: '4K', manimLetter: 'k' },
} as const;

/** The name of a quality. */
export type Quality = keyof typeof ROWS;

/**
 * The qualities, from the fastest to the slowest. Requests, prices, OpenAPI, command line and dashboard read
 * them; a test compares the manual's table and the contract with them.
 */
export const QUALITIES: Readonly<Record<Quality, QualityRow>> = ROWS;

/** The names of all qualities, in the order of {@link QUALITIES}. */
export const QUALITY_NAMES: readonly Quality[] = Object.keys(QUALITIES) as Quality[];

/** Landscape and portrait. */
export const ASPECT_RATIOS = ['16:9', '9:16'] as const;
/** One of {@link ASPECT_RATIOS}. */
export type AspectRatio = (typeof ASPECT_RATIOS)[number];

/**
 * The frame size in pixels; portrait swaps width and height.
 *
 * ```ts
 * frameSizeOf('low', '16:9'); // { widthPx: 854, heightPx: 480 }
 * ```
 */
export function frameSizeOf(
  quality: Quality,
  aspectRatio: AspectRatio,
): { widthPx: number; heightPx: number } {
  const { widthPx, heightPx } = QUALITIES[quality];
  return aspectRatio === '9:16' ? { widthPx: heightPx, heightPx: widthPx } : { widthPx, heightPx };
}
