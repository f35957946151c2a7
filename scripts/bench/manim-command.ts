import { mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchScene } from './bench-scenes.ts';
import { MANIM, runPython } from './python.ts';

/** Quality letters of the command. */
export const MANIM_QUALITIES = { low: 'l', medium: 'm', high: 'h', fourk: 'k' } as const;

export type Quality = keyof typeof MANIM_QUALITIES;

/** The quality of an option. */
export function qualityOf(name: string): Quality {
  if (Object.hasOwn(MANIM_QUALITIES, name)) return name as Quality;
  throw new Error(`Qualities: ${Object.keys(MANIM_QUALITIES).join(', ')}.`);
}

/** Resource use of a render, over all processes. */
export interface Taken {
  wallMs: number;
  cpuMs: number;
  memoryBytes: number;
}

/** A render by the command. */
export interface ManimRender extends Taken {
  video: string;
}

/** Renders with `manim`, without a cache, in a new folder: it would reuse formulas of an earlier render. */
export async function renderWithManim(
  folder: string,
  { name, file }: BenchScene,
  { quality, encoders = 1 }: { quality: Quality; encoders?: number },
): Promise<ManimRender> {
  const media = await mkdtemp(join(folder, 'manim-'));
  const command = [
    ...[MANIM, 'render', `-q${MANIM_QUALITIES[quality]}`, '--disable_caching', '--progress_bar', 'none'],
    ...(encoders > 1 ? ['--max-inflight-encoders', String(encoders)] : []),
    ...['--media_dir', media, file, name],
  ];
  const measured = (await runPython('measure.py', command, media)) as Taken & { error: string | null };
  const { error, ...taken } = measured;
  if (error !== null) throw new Error(`manim: ${error.trim().split('\n').at(-1)}`);
  const files = await readdir(media, { recursive: true });
  const video = files.find((path) => path.endsWith(`/${name}.mp4`));
  if (video === undefined) throw new Error('manim made no video');
  return { ...taken, video: join(media, video) };
}
