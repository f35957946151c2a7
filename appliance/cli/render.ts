import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  ASPECT_RATIOS,
  type AspectRatio,
  isScenepressError,
  type Job,
  parseRenderRequest,
  QUALITIES,
  type Quality,
  type RenderService,
  type ValidRenderRequest,
} from '../../lib/index.ts';
import type { Config } from '../config/config.ts';
import { UserError } from '../user-error.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { wholeNumber } from './job.ts';
import { print, printJson } from './output.ts';
import { ProgressLine } from './progress-line.ts';
import { saveArtifact, unlessInterrupted, withRenderer } from './with-renderer.ts';

interface RenderFlags extends Record<string, unknown> {
  quality: Quality;
  aspect: AspectRatio;
  fps?: number;
  out?: string;
  thumbnail?: string;
  captions?: string;
  list?: boolean;
  all?: boolean;
  json?: boolean;
}

/** Paths of the artifacts of a scene. Video and captions are always written, a thumbnail only on request. */
interface Targets {
  video: string;
  captions: string;
  thumbnail: string | null;
}

const OWNER = 'command line';
const FLAGS: (keyof Config)[] = [
  'python',
  'rendererDir',
  'studioDir',
  'insecureNoSandbox',
  'renderTimeoutSeconds',
  'renderMemoryMb',
  'renderProcesses',
  'renderFileMb',
  'renderDiskMb',
  'renderFiles',
  'renderOutputMb',
  'renderFrames',
];
/** Quality letters of the `manim` command. */
const MANIM_QUALITIES: Record<string, Quality> = {
  l: 'low',
  m: 'medium',
  h: 'high',
  p: 'twok',
  k: 'fourk',
};

/** `scenepress render FILE [SCENE…]` */
export function renderCommand(): Command {
  const command = addConfigFlags(new Command('render'), FLAGS)
    .description('Render scenes of a file without a server')
    .argument('<file>', 'Python file; - reads standard input')
    .argument('[scene...]', 'scene classes to render; optional if the file defines only one')
    .addOption(
      new Option(
        '-q, --quality <quality>',
        `quality: ${QUALITIES.join(', ')}, or the letter that the manim command uses`,
      )
        .argParser(qualityOf)
        .default('medium'),
    )
    .addOption(new Option('--aspect <ratio>', 'landscape or portrait').choices(ASPECT_RATIOS).default('16:9'))
    .option('--fps <number>', 'frames per second (default: depends on the quality)', wholeNumber)
    .option('-o, --out <file>', 'video file (default: <scene>.mp4)')
    .option('--captions <file>', 'captions file, if the scene has captions (default: .vtt beside the video)')
    .option('--thumbnail <file>', 'also write a thumbnail (JPEG)')
    .option('-a, --all', 'render all scenes of the file')
    .option('-l, --list', 'list the scenes of the file without rendering')
    .option('--json', 'print JSON')
    .action(async (file: string, scenes: string[], flags: RenderFlags) => {
      if (flags.all && scenes.length > 0) throw wrongUsage('Name scenes, or use --all.');
      checkTargets(flags, scenes.length > 1 || flags.all === true);
      const code = await readCode(file);
      for (const className of scenes) requestOf(code, className, flags); // Validate before starting a renderer.
      await render({ file, code, scenes, flags, config: configOf(flags) });
    });
  return addExamples(
    command,
    'scenepress render scene.py Hello -q high -o hello.mp4',
    ['scenepress render scene.py --list', 'list its scenes'],
    'scenepress render scene.py --all -q low',
    ['scenepress render scene.py Hello --aspect 9:16 --thumbnail hello.jpg', 'portrait'],
    ['generate-scene | scenepress render - Hello --json', 'code from standard input'],
  );
}

async function render(asked: {
  file: string;
  code: string;
  scenes: string[];
  flags: RenderFlags;
  config: Config;
}): Promise<void> {
  const { file, code, scenes, flags, config } = asked;
  const progress = new ProgressLine();
  const work = async (service: RenderService, interrupted: AbortSignal) => {
    progress.start();
    service.on('progress', (_, state) => progress.show(state));
    try {
      await service.start();
      if (flags.list) return printScenes(await scenesIn(service, code, interrupted), flags, progress);
      const names =
        scenes.length > 0 ? scenes : chosen(file, await scenesIn(service, code, interrupted), flags);
      const results: object[] = [];
      for (const className of names) {
        const request = requestOf(code, className, flags);
        const { jobId } = await service.enqueue({ ...request, owner: OWNER });
        const job = await service.wait(jobId, { signal: interrupted });
        progress.show(null);
        results.push(
          await deliver(service, job, targetsOf(className, flags), { flags, interrupted, progress }),
        );
      }
      progress.stop();
      if (flags.json) printJson(names.length === 1 && !flags.all ? results[0] : results);
    } finally {
      progress.stop();
    }
  };
  await withRenderer(config, work, { say: (words) => progress.say(words), lasting: true });
}

async function readCode(file: string): Promise<string> {
  try {
    return file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  } catch (cause) {
    throw wrongUsage(`The scene can't be read: ${(cause as Error).message}.`, cause);
  }
}

async function scenesIn(service: RenderService, code: string, interrupted: AbortSignal): Promise<string[]> {
  if (code === '') return [];
  try {
    return await unlessInterrupted(service.scenesOf(code), interrupted);
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request')) throw error;
    throw new UserError(`The scenes can't be listed:\n${error.message}`, { cause: error });
  }
}

/** Like the `manim` command: all scenes with `--all`, else the only one. */
function chosen(file: string, scenes: string[], { all }: RenderFlags): string[] {
  if (scenes.length === 0) throw new UserError(`${file} defines no scene.`);
  if (all || scenes.length === 1) return scenes;
  throw wrongUsage(
    `${file} defines ${scenes.length} scenes. Name those to render, or use --all:\n${scenes
      .map((name) => `  ${name}`)
      .join('\n')}`,
  );
}

function printScenes(scenes: string[], { json }: RenderFlags, progress: ProgressLine): void {
  progress.stop();
  if (json) printJson(scenes);
  else for (const name of scenes) print(name);
}

function requestOf(code: string, className: string, flags: RenderFlags): ValidRenderRequest {
  try {
    return parseRenderRequest({
      code,
      className,
      quality: flags.quality,
      aspectRatio: flags.aspect,
      ...(flags.fps !== undefined && { fps: flags.fps }),
    });
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request')) throw error;
    throw wrongUsage(`${error.message}.`, error);
  }
}

function checkTargets(flags: RenderFlags, several: boolean): void {
  const named = (['out', 'captions', 'thumbnail'] as const).find((name) => flags[name] !== undefined);
  if (several && named) throw wrongUsage(`--${named} names a single file, but there are several scenes.`);
}

function targetsOf(className: string, flags: RenderFlags): Targets {
  const video = resolve(flags.out ?? `${className}.mp4`);
  const beside = `${video.slice(0, video.length - extname(video).length)}.vtt`;
  return {
    video,
    captions: resolve(flags.captions ?? beside),
    thumbnail: flags.thumbnail === undefined ? null : resolve(flags.thumbnail),
  };
}

/** Saves the artifacts of a job, prints their paths and returns the result for JSON. */
async function deliver(
  service: RenderService,
  job: Job,
  targets: Targets,
  { flags, interrupted, progress }: { flags: RenderFlags; interrupted: AbortSignal; progress: ProgressLine },
): Promise<object> {
  const { jobId, className, status, durationMs, error } = job;
  const done = status === 'completed';
  const has = (name: string) => job.artifacts.some((artifact) => artifact.name === name);
  const video = done ? targets.video : null;
  const captions = has('captions.vtt') ? targets.captions : null;
  const thumbnail = done ? targets.thumbnail : null;
  if (video) await saveArtifact(service, { jobId, name: 'video.mp4' }, video, interrupted);
  if (captions) await saveArtifact(service, { jobId, name: 'captions.vtt' }, captions, interrupted);
  if (thumbnail) await saveArtifact(service, { jobId, name: 'thumbnail.jpg' }, thumbnail, interrupted);
  if (!done) process.exitCode = 1;
  if (!flags.json) {
    progress.clear();
    if (!done) process.stderr.write(`${className}: ${error}\n`);
    for (const path of [video, captions, thumbnail]) if (path) print(path);
  }
  return { scene: className, status, video, captions, thumbnail, durationMs, error };
}

function qualityOf(text: string): Quality {
  const quality = MANIM_QUALITIES[text] ?? QUALITIES.find((quality) => quality === text);
  if (quality) return quality;
  throw new InvalidArgumentError(`Allowed choices are ${QUALITIES.join(', ')}.`);
}

function wrongUsage(message: string, cause?: unknown): UserError {
  return new UserError(message, { exitCode: 2, cause });
}
