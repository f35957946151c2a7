import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  ASPECT_RATIOS,
  type AspectRatio,
  isReadableByOthers,
  isScenepressError,
  LocalRenderer,
  type LocalRequest,
  parseRenderRequest,
  QUALITIES,
  type Quality,
  type SceneFolder,
  sceneFolderOf,
} from '../../lib/index.ts';
import type { Config } from '../config/config.ts';
import { UserError } from '../user-error.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { wholeNumber } from './job.ts';
import { type ManimConfig, readManimConfig } from './manim-config.ts';
import { addManimFlags, playRange, readManimFlags, resolution } from './manim-flags.ts';
import { remedyOf } from './missing-files.ts';
import { openFile } from './open-file.ts';
import { print, printJson } from './output.ts';
import { ProgressLine } from './progress-line.ts';
import {
  checkTargets,
  FORMATS,
  type Format,
  formatOf,
  isFolder,
  type OutputFlags,
  saveAll,
  targetsOf,
} from './render-output.ts';
import { unlessInterrupted, withRenderer } from './with-renderer.ts';

interface RenderFlags extends OutputFlags, Record<string, unknown> {
  quality?: Quality;
  aspect: AspectRatio;
  resolution?: { width: number; height: number };
  frame_rate?: number;
  from_animation_number?: { firstPlay: number; lastPlay: number };
  list?: boolean;
  all?: boolean;
  preview?: boolean;
  /** A folder that scenes may read; false: none; true or undefined: that of the file. */
  folder?: string | boolean;
  /** The file given by `--config_file`. */
  manimConfig?: string;
  zero_pad?: number;
  seed?: number;
  tex_template?: string;
  json?: boolean;
}

/** What the command was asked for. */
interface Asked {
  file: string;
  folder: SceneFolder | null;
  code: string;
  scenes: string[];
  format: Format;
  flags: RenderFlags;
  /** Everything of the requests but code and scene. */
  request: Omit<LocalRequest, 'code' | 'className'>;
  config: Config;
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
const UNREADABLE = 'Let others read it (chmod -R o+rX), or run scenepress as an ordinary user.';
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
    .option(
      '-q, --quality <quality>',
      `quality: ${QUALITIES.join(', ')}, or the letter that the manim command uses (default: medium)`,
      qualityOf,
    )
    .addOption(new Option('--aspect <ratio>', 'landscape or portrait').choices(ASPECT_RATIOS).default('16:9'))
    .option('-r, --resolution <size>', 'width and height in pixels, such as 1280,720', resolution)
    .option(
      '--fps, --frame_rate <number>',
      'frames per second (default: depends on the quality)',
      wholeNumber,
    )
    .option('-o, --out <file>', 'file or folder/ (default: <scene>.mp4); the extension selects the format')
    .option('--format <format>', `${FORMATS.join(', ')} (default: mp4, or mov if transparent)`)
    .option('-t, --transparent', 'without a background')
    .option('-s, --save_last_frame', 'only the last picture, as PNG; the animations are skipped')
    .option(
      '-n, --from_animation_number <range>',
      'only these animations: 2, or 2,4; the first is 0',
      playRange,
    )
    .option('--save_sections', 'also a video of each section, in the folder sections/')
    .option('-p, --preview', 'open the result')
    .option('--captions <file>', 'captions file, if the scene has captions (default: .vtt beside the video)')
    .option('--thumbnail <file>', 'also write a thumbnail (JPEG)')
    .option(
      '--folder <folder>',
      'folder that the scenes may read: modules, pictures, data (default: that of <file>)',
    )
    .option('--no-folder', 'let the scenes read no files of this machine')
    .option('--seed <number>', 'random seed', wholeNumber)
    .option('--tex_template <file>', 'TeX template, in the folder of the scenes')
    .option('-0, --zero_pad <digits>', 'digits of the names of pictures (default: 4)', wholeNumber)
    .option('-a, --all', 'render all scenes of the file')
    .option('-l, --list', 'list the scenes of the file without rendering')
    .option('--json', 'print JSON')
    .action(async (file: string, scenes: string[], flags: RenderFlags) => {
      readManimFlags(flags);
      await render(await askedOf(file, scenes, flags));
    });
  return addExamples(
    addManimFlags(command),
    'scenepress render scene.py Hello -q high -o hello.mp4',
    ['scenepress render scene.py Hello -pql', 'low quality, then open it, as with manim'],
    ['scenepress render scene.py Hello -s -o hello.png', 'only the last picture'],
    ['scenepress render scene.py Hello -t -o hello.webm', 'transparent'],
    ['scenepress render scene.py --list', 'list its scenes'],
    'scenepress render scene.py --all -q low -o videos/',
    ['scenepress render scene.py Hello --aspect 9:16 --thumbnail hello.jpg', 'portrait'],
    ['scenepress render scenes/intro.py --folder .', 'its scenes also read files of the folders above them'],
    ['generate-scene | scenepress render - Hello --json', 'code from standard input'],
  );
}

async function askedOf(file: string, scenes: string[], flags: RenderFlags): Promise<Asked> {
  const manim = readManimConfig(flags.manimConfig);
  if (manim.ignored.length > 0)
    process.stderr.write(`Settings of manim.cfg that have no effect here: ${manim.ignored.join(', ')}.\n`);
  if (flags.all && scenes.length > 0) throw wrongUsage('Name scenes, or use --all.');
  applyConfig(manim.flags, flags, scenes);
  checkSingleFiles(flags, scenes.length > 1 || flags.all === true);
  const format = formatOf(flags);
  const request = requestOf(manim, format, flags);
  const { width, height } = request.sizePx ?? { width: 2, height: 2 };
  if (!['gif', 'png', 'png-sequence'].includes(format) && (width % 2 === 1 || height % 2 === 1))
    throw wrongUsage(`Videos have an even width and height, not ${width},${height}.`);
  const folder = folderOf(file, flags);
  const code = await readCode(file);
  for (const className of scenes) {
    validate({ code, className, ...request });
    if (!flags.list) await checkTargets(targetsOf(className, format, flags));
  }
  return { file, folder, code, scenes, format, flags, request, config: configOf(flags) };
}

/** Settings of manim.cfg are the defaults of the flags. */
function applyConfig(config: ManimConfig['flags'], flags: RenderFlags, scenes: string[]): void {
  const { sizePx, fps, format, all, preview, saveSections, firstPlay, lastPlay = -1, out } = config;
  if (flags.quality === undefined && sizePx) flags.resolution ??= sizePx;
  if (flags.quality === undefined && fps !== undefined) flags.frame_rate ??= fps;
  if (format !== undefined && !flags.out && !flags.save_last_frame) flags.format ??= format;
  if (all && scenes.length === 0) flags.all ??= true;
  if (preview) flags.preview ??= true;
  if (saveSections) flags.save_sections ??= true;
  if (firstPlay || lastPlay >= 0) flags.from_animation_number ??= { firstPlay: firstPlay ?? 0, lastPlay };
  if (out !== undefined && !flags.all) flags.out ??= out;
}

function requestOf({ settings }: ManimConfig, format: Format, flags: RenderFlags): Asked['request'] {
  const { quality = 'medium', aspect, resolution: sizePx, frame_rate: fps, seed, zero_pad: zeroPad } = flags;
  const config: Record<string, string> = {
    ...settings,
    ...(seed !== undefined && { seed: String(seed) }),
    ...(zeroPad !== undefined && { zero_pad: String(zeroPad) }),
    ...(flags.tex_template !== undefined && { tex_template_file: flags.tex_template }),
  };
  // The units of the frame belong to the size of the configuration.
  if (quality === flags.quality) delete config['frame_width'];
  return {
    quality,
    aspectRatio: aspect,
    ...(sizePx && { sizePx }),
    ...(fps !== undefined && { fps }),
    output: {
      format,
      transparent: flags.transparent ?? false,
      sections: flags.save_sections ?? false,
      ...flags.from_animation_number,
      config,
    },
  };
}

async function render(asked: Asked): Promise<void> {
  const { file, folder, scenes, format, flags, config } = asked;
  const progress = new ProgressLine();
  const workers = flags.all || scenes.length > 1 ? availableParallelism() : 1;
  const make = (options: ConstructorParameters<typeof LocalRenderer>[0]) =>
    new LocalRenderer({ ...options, workers, ...(folder && { sceneFolder: folder }) });
  const work = async (renderer: LocalRenderer, interrupted: AbortSignal) => {
    progress.start();
    try {
      await renderer.start();
      const inCode = () => scenesIn(renderer, asked, interrupted);
      if (flags.list) return printScenes(await inCode(), flags, progress);
      const names = scenes.length > 0 ? scenes : chosen(file, await inCode(), flags);
      if (scenes.length === 0)
        for (const className of names) await checkTargets(targetsOf(className, format, flags));
      const results = await Promise.all(
        names.map((className) => renderScene(renderer, className, asked, { progress, interrupted })),
      );
      progress.stop();
      if (flags.json) printJson(names.length === 1 && !flags.all ? results[0] : results);
    } finally {
      progress.stop();
    }
  };
  await withRenderer(config, make, work, { say: (words) => progress.say(words), lasting: true });
}

/** Renders a scene, saves its files, prints their paths and returns the result for JSON. */
async function renderScene(
  renderer: LocalRenderer,
  className: string,
  { code, request, format, flags, folder }: Asked,
  { progress, interrupted }: { progress: ProgressLine; interrupted: AbortSignal },
): Promise<object> {
  const rendered = await renderer.render(
    { code, className, ...request },
    {
      signal: interrupted,
      onProgress: progress.show.bind(progress),
      onOutput: progress.write.bind(progress),
    },
  );
  progress.show(null);
  const { status, durationMs, output: printed } = rendered;
  const saved = await saveAll(rendered.files, format, targetsOf(className, format, flags));
  await renderer.discard(rendered);
  const error = rendered.error === null ? null : withRemedy(rendered.error, folder);
  if (error !== null) process.exitCode = 1;
  const { output, ...others } = saved;
  if (!flags.json) {
    progress.clear();
    if (error !== null) process.stderr.write(`${className}: ${error}\n`);
    for (const path of [output, ...Object.values(others)]) if (path) print(path);
  }
  if (flags.preview && output) openFile(output);
  return { scene: className, status, video: output, ...others, durationMs, error, output: printed };
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
      process.stderr.write(`Scenes can't read ${found.path}: they run as another user. ${UNREADABLE}\n`);
    return found;
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request')) throw error;
    if (typeof folder !== 'string') return null; // Reading the file fails, or succeeds without the folder.
    throw wrongUsage(`${error.message}: --folder names a folder of the scene's.`, error);
  }
}

async function scenesIn(
  renderer: LocalRenderer,
  { code, folder }: Pick<Asked, 'code' | 'folder'>,
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

/** Validates before a renderer is started. */
function validate({ sizePx: _, output: __, ...request }: LocalRequest): void {
  try {
    parseRenderRequest(request);
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request')) throw error;
    throw wrongUsage(`${error.message}.`, error);
  }
}

function checkSingleFiles(flags: RenderFlags, several: boolean): void {
  const named = (['out', 'captions', 'thumbnail'] as const).find((name) => flags[name] !== undefined);
  if (!several || !named || (named === 'out' && isFolder(flags.out ?? ''))) return;
  throw wrongUsage(
    `--${named} names a single file, but there are several scenes. A folder ends with a slash.`,
  );
}

function qualityOf(text: string): Quality {
  const quality = MANIM_QUALITIES[text] ?? QUALITIES.find((quality) => quality === text);
  if (quality) return quality;
  throw new InvalidArgumentError(`Allowed choices are ${QUALITIES.join(', ')}.`);
}

function wrongUsage(message: string, cause?: unknown): UserError {
  return new UserError(message, { exitCode: 2, cause });
}
