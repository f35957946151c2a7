import { mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { QUALITIES, type Quality } from '../../lib/index.ts';
import { QUALITY_NAMES } from '../../lib/model/qualities.ts';
import type { BenchScene } from './bench-scenes.ts';
import { MANIM, runPython } from './python.ts';

/** The quality of an option. */
export function qualityOf(name: string | undefined): Quality {
  const quality = QUALITY_NAMES.find((known) => known === name);
  if (quality) return quality;
  throw new Error(`Qualities: ${QUALITY_NAMES.join(', ')}.`);
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
  { name, file }: Pick<BenchScene, 'name' | 'file'>,
  { quality, encoders = 1 }: { quality: Quality; encoders?: number },
): Promise<ManimRender> {
  const media = await mkdtemp(join(folder, 'manim-'));
  const command = [
    ...[
      MANIM,
      'render',
      `-q${QUALITIES[quality].manimLetter}`,
      '--disable_caching',
      '--progress_bar',
      'none',
    ],
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
