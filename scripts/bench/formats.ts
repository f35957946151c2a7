import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type LocalRender, LocalRenderer, QUALITIES, type Quality } from '../../lib/index.ts';
import type { ArtifactFormat, ArtifactName } from '../../lib/model/artifacts.ts';
import { type BenchScene, benchScenes } from './bench-scenes.ts';
import { qualityOf, type Taken } from './manim-command.ts';
import { MANIM, runPython } from './python.ts';

/** The formats of a job, their files, and the flags with which `manim` makes the like. */
const ROWS: [format: ArtifactFormat | 'mp4', name: ArtifactName, flags: string[]][] = [
  ['mp4', 'video.mp4', []],
  ['gif', 'video.gif', ['--format', 'gif']],
  ['webm', 'video.webm', ['--format', 'webm']],
  ['transparent-webm', 'transparent.webm', ['--format', 'webm', '-t']],
  ['mov', 'transparent.mov', ['--format', 'mov', '-t']],
  ['webp', 'video.webp', []],
  ['apng', 'video.apng', []],
  ['av1', 'av1.mp4', []],
  ['hevc', 'hevc.mp4', []],
  ['png', 'frames.zip', []],
];

interface Made {
  seconds: number;
  bytes: number;
}

/** Prints times and sizes of other formats, beside those of the `manim` command in the same run. */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { quality: { type: 'string', default: 'low' }, scene: { type: 'string', multiple: true } },
  });
  const quality = qualityOf(values.quality);
  const all = await benchScenes();
  const names = values.scene ?? all.slice(0, 2).map(({ name }) => name);
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-formats-'));
  const renderer = new LocalRenderer({ folder, workers: 1 });
  try {
    await renderer.start();
    for (const scene of all.filter(({ name }) => names.includes(name))) {
      await made(renderer, scene, quality, ['mp4', 'video.mp4']); // Its TeX is known afterwards.
      for (const [format, name, flags] of ROWS) {
        const ours = await made(renderer, scene, quality, [format, name]);
        const isOfManim = format === 'mp4' || flags.length > 0;
        const theirs = isOfManim ? await madeByManim(folder, scene, quality, flags) : undefined;
        console.log(`${scene.name} ${format}: ${shown(ours)}; manim: ${theirs ? shown(theirs) : 'has none'}`);
      }
    }
  } finally {
    await renderer.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A render of the video with one other format, and the size of that. */
async function made(
  renderer: LocalRenderer,
  { code, name: className }: BenchScene,
  quality: Quality,
  [format, name]: [format: ArtifactFormat | 'mp4', name: ArtifactName],
): Promise<Made> {
  const render: LocalRender = await renderer.render({ code, className, quality, formats: [format] });
  const path = render.files.find((file) => file.name === name)?.path;
  if (path === undefined) throw new Error(`${className} ${format}: ${render.error}`);
  const { size: bytes } = await stat(path);
  await renderer.discard(render);
  return { seconds: render.durationMs / 1000, bytes };
}

async function madeByManim(
  folder: string,
  { name, file }: BenchScene,
  quality: Quality,
  flags: string[],
): Promise<Made> {
  const media = await mkdtemp(join(folder, 'manim-'));
  const command = [
    ...[MANIM, 'render', `-q${QUALITIES[quality].manimLetter}`, '--disable_caching'],
    ...['--progress_bar', 'none', ...flags, '--media_dir', media, file, name],
  ];
  const { error, wallMs } = (await runPython('measure.py', command, media)) as Taken & {
    error: string | null;
  };
  if (error !== null) throw new Error(`manim: ${error.trim().split('\n').at(-1)}`);
  const files = await readdir(media, { recursive: true });
  const path = files.find((path) => path.includes(`/${name}`) && !path.includes('partial_movie_files'));
  if (path === undefined) throw new Error(`manim made no file: ${files.join(', ')}`);
  const { size: bytes } = await stat(join(media, path));
  await rm(media, { recursive: true });
  return { seconds: wallMs / 1000, bytes };
}

function shown({ seconds, bytes }: Made): string {
  return `${seconds.toFixed(1)} s, ${(bytes / 1024).toFixed(0)} KiB`;
}
