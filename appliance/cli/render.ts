import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  ASPECT_RATIOS,
  type AspectRatio,
  isReadableByOthers,
  isScenepressError,
  type LocalFile,
  type LocalRender,
  LocalRenderer,
  parseRenderRequest,
  QUALITIES,
  type Quality,
  type SceneFolder,
  sceneFolderOf,
  type ValidRenderRequest,
} from '../../lib/index.ts';
import type { Config } from '../config/config.ts';
import { UserError } from '../user-error.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { wholeNumber } from './job.ts';
import { remedyOf } from './missing-files.ts';
import { print, printJson } from './output.ts';
import { ProgressLine } from './progress-line.ts';
import { saveFile } from './save-file.ts';
import { unlessInterrupted, withRenderer } from './with-renderer.ts';

interface RenderFlags extends Record<string, unknown> {
  quality: Quality;
  aspect: AspectRatio;
  fps?: number;
  out?: string;
  thumbnail?: string;
  captions?: string;
  list?: boolean;
  all?: boolean;
  /** A folder that scenes may read; false: none; undefined: that of the file. */
  folder?: string | boolean;
  json?: boolean;
}

/** Paths of the artifacts of a scene. Video and captions are always written, a thumbnail only on request. */
interface Targets {
  video: string;
  captions: string;
  thumbnail: string | null;
}

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
const REMEDY = 'Let others read it (chmod -R o+rX), or run scenepress as an ordinary user.';
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
    .option(
      '--folder <folder>',
      'folder that the scenes may read: modules, pictures, data (default: that of <file>)',
    )
    .option('--no-folder', 'let the scenes read no files of this machine')
    .option('-a, --all', 'render all scenes of the file')
    .option('-l, --list', 'list the scenes of the file without rendering')
    .option('--json', 'print JSON')
    .action(async (file: string, scenes: string[], flags: RenderFlags) => {
      if (flags.all && scenes.length > 0) throw wrongUsage('Name scenes, or use --all.');
      checkTargets(flags, scenes.length > 1 || flags.all === true);
      const folder = folderOf(file, flags);
      const code = await readCode(file);
      for (const className of scenes) requestOf(code, className, flags); // Validate before starting a renderer.
      await render({ file, folder, code, scenes, flags, config: configOf(flags) });
    });
  return addExamples(
    command,
    'scenepress render scene.py Hello -q high -o hello.mp4',
    ['scenepress render scene.py --list', 'list its scenes'],
    'scenepress render scene.py --all -q low',
    ['scenepress render scene.py Hello --aspect 9:16 --thumbnail hello.jpg', 'portrait'],
    ['scenepress render scenes/intro.py --folder .', 'its scenes also read files of the folders above them'],
    ['generate-scene | scenepress render - Hello --json', 'code from standard input'],
  );
}

async function render(asked: {
  file: string;
  folder: SceneFolder | null;
  code: string;
  scenes: string[];
  flags: RenderFlags;
  config: Config;
}): Promise<void> {
  const { file, folder, code, scenes, flags, config } = asked;
  const progress = new ProgressLine();
  const make = (options: ConstructorParameters<typeof LocalRenderer>[0]) =>
    new LocalRenderer({ ...options, workers: 1, ...(folder && { sceneFolder: folder }) });
  const work = async (renderer: LocalRenderer, interrupted: AbortSignal) => {
    progress.start();
    try {
      await renderer.start();
      const inCode = () => scenesIn(renderer, asked, interrupted);
      if (flags.list) return printScenes(await inCode(), flags, progress);
      const names = scenes.length > 0 ? scenes : chosen(file, await inCode(), flags);
      const results: object[] = [];
      for (const className of names) {
        const request = requestOf(code, className, flags);
        const onProgress = progress.show.bind(progress);
        const onOutput = progress.write.bind(progress);
        const rendered = await renderer.render(request, { signal: interrupted, onProgress, onOutput });
        progress.show(null);
        results.push(await deliver(rendered, { className, flags, folder, progress }));
        await renderer.discard(rendered);
      }
      progress.stop();
      if (flags.json) printJson(names.length === 1 && !flags.all ? results[0] : results);
    } finally {
      progress.stop();
    }
  };
  await withRenderer(config, make, work, { say: (words) => progress.say(words), lasting: true });
}

async function readCode(file: string): Promise<string> {
  try {
    return file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  } catch (cause) {
    throw wrongUsage(`The scene can't be read: ${(cause as Error).message}.`, cause);
  }
}

/** The folder that scenes may read: that of the file, which for standard input must be given. */
function folderOf(file: string, { folder }: RenderFlags): SceneFolder | null {
  if (folder === false || (file === '-' && typeof folder !== 'string')) return null;
  try {
    const found = sceneFolderOf(file === '-' ? null : file, typeof folder === 'string' ? folder : undefined);
    if (process.getuid?.() === 0 && !isReadableByOthers(found))
      process.stderr.write(`Scenes can't read ${found.path}: they run as another user. ${REMEDY}\n`);
    return found;
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request')) throw error;
    if (folder === undefined || folder === true) return null; // Reading the file fails, or succeeds without it.
    throw wrongUsage(`${error.message}: --folder names a folder of the scene's.`, error);
  }
}

async function scenesIn(
  renderer: LocalRenderer,
  { code, folder }: { code: string; folder: SceneFolder | null },
  signal: AbortSignal,
): Promise<string[]> {
  if (code === '') return [];
  try {
    return await unlessInterrupted(renderer.scenesOf(code, { signal }), signal);
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request')) throw error;
    throw new UserError(`The scenes can't be listed:\n${withRemedy(error.message, folder)}`, {
      cause: error,
    });
  }
}

function withRemedy(error: string, folder: SceneFolder | null): string {
  const remedy = remedyOf(error, folder);
  return remedy === undefined ? error : `${error}\n${remedy}`;
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

/** Saves the files of a render, prints their paths and returns the result for JSON. */
async function deliver(
  render: LocalRender,
  asked: { className: string; flags: RenderFlags; folder: SceneFolder | null; progress: ProgressLine },
): Promise<object> {
  const { className, flags, folder, progress } = asked;
  const { status, durationMs } = render;
  const targets = targetsOf(className, flags);
  const save = async (name: LocalFile['name'], target: string | null) => {
    const path = render.files.find((file) => file.name === name)?.path;
    if (path === undefined || target === null) return null;
    await saveFile(path, target);
    return target;
  };
  const video = await save('video.mp4', targets.video);
  const captions = await save('captions.vtt', targets.captions);
  const thumbnail = await save('thumbnail.jpg', targets.thumbnail);
  const error = render.error === null ? null : withRemedy(render.error, folder);
  if (error !== null) process.exitCode = 1;
  if (!flags.json) {
    progress.clear();
    if (error !== null) process.stderr.write(`${className}: ${error}\n`);
    for (const path of [video, captions, thumbnail]) if (path) print(path);
  }
  const { output } = render;
  return { scene: className, status, video, captions, thumbnail, durationMs, error, output };
}

function qualityOf(text: string): Quality {
  const quality = MANIM_QUALITIES[text] ?? QUALITIES.find((quality) => quality === text);
  if (quality) return quality;
  throw new InvalidArgumentError(`Allowed choices are ${QUALITIES.join(', ')}.`);
}

function wrongUsage(message: string, cause?: unknown): UserError {
  return new UserError(message, { exitCode: 2, cause });
}
