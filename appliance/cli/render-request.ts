import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import type { AspectRatio, LocalRequest, Quality } from '../../lib/index.ts';
import {
  isReadableByOthers,
  isScenepressError,
  parseLocalRequest,
  QUALITIES,
  QUALITY_NAMES,
  type SceneFolder,
  sceneFolderOf,
} from '../../lib/internal.ts';
import type { Config } from '../config/config.ts';
import { UserError } from '../support/user-error.ts';
import type { Audio } from './audio-flags.ts';
import { configOf } from './config-flags.ts';
import { type FrameFlags, framesOfFlags } from './frame-flags.ts';
import { type FileFlags, folderWith } from './given-files.ts';
import { type ManimConfig, NO_MANIM_CONFIG, readManimConfig } from './manim-config.ts';
import { type ParamFlags, paramsOfFlags } from './param-flags.ts';
import {
  checkTargets,
  type Format,
  formatOf,
  isFolder,
  OTHER_ARTIFACTS,
  type OutputFlags,
  targetsOf,
} from './render-output.ts';
import { refuseWithServer, type Server, type ServerFlags, serverOf } from './server-flags.ts';
import { whyWithheld } from './withheld-folder.ts';

/** The flags of `scenepress render`. */
export interface RenderFlags
  extends OutputFlags,
    FrameFlags,
    ServerFlags,
    ParamFlags,
    FileFlags,
    Record<string, unknown> {
  audio?: Audio;
  quality?: Quality;
  aspect: AspectRatio;
  resolution?: { width: number; height: number };
  frame_rate?: number;
  list?: boolean;
  all?: boolean;
  preview?: boolean;
  disable_caching?: boolean;
  flush_cache?: boolean;
  /** A folder that scenes may read; false: none; true or undefined: that of the file. */
  folder?: string | boolean;
  /** The file given by `--config_file`. */
  manimConfig?: string;
  zero_pad?: number;
  seed?: number;
  tex_template?: string;
  watch?: boolean;
  /** Print where the time of each render went. */
  times?: boolean;
  /** Minutes. */
  keepWarm?: number;
  json?: boolean;
}

/** The request of the command line. */
export interface Asked {
  file: string;
  folder: SceneFolder | null;
  /** A sentence: why scenes can't read the folder of the file, although that is the default; otherwise null. */
  withheld: string | null;
  /** The bytes of the file: Python decides about its encoding. */
  code: Uint8Array;
  scenes: string[];
  format: Format;
  flags: RenderFlags;
  /** Everything of the requests but code and scene. */
  request: Omit<LocalRequest, 'code' | 'className'>;
  /** Undefined: this machine. */
  server: Server | undefined;
  config: Config;
  /** The paths of all files that were written. */
  made: string[];
}

const UNREADABLE = 'Let others read it (chmod -R o+rX), or run scenepress as an ordinary user.';
/** Reads flags, configuration and code. Error: when they can't be rendered, before a renderer is started. */
export async function askedOf(
  file: string,
  scenes: string[],
  flags: RenderFlags,
  manim: ManimConfig = manimConfigFor(renderServerOf(flags), flags),
): Promise<Asked> {
  const server = renderServerOf(flags);
  if (flags.all && scenes.length > 0) throw wrongUsage('Name scenes, or use --all.');
  applyConfig(manim.flags, flags, scenes);
  checkSingleFiles(flags, scenes.length > 1 || flags.all === true);
  const format = formatOf(flags);
  const request = requestOf(manim, format, flags);
  const { width, height } = request.sizePx ?? { width: 2, height: 2 };
  if (!['gif', 'png', 'png-sequence'].includes(format) && (width % 2 === 1 || height % 2 === 1))
    throw wrongUsage(`Videos have an even width and height, not ${width},${height}.`);
  if (server && format !== 'mp4')
    throw wrongUsage('The video of a service is MP4 only. It makes others beside it: --formats gif.');
  if (flags.formats && format !== 'mp4')
    throw wrongUsage(`--formats are made beside an MP4, not beside ${format}. Leave out one of the two.`);
  // The configuration has an option of this name too, for workers.
  const { quality: _, ...options } = flags;
  const config = configOf(options);
  if (flags.file && typeof flags.folder === 'string')
    throw wrongUsage('--file gives scenes single files instead of a folder. Leave out --folder.');
  if (flags.file && flags.watch)
    throw wrongUsage('--watch does not see changes of files that --file names. Use --folder.');
  const given = flags.file && !server ? folderWith(flags.file) : undefined;
  const found = server ? null : folderOf(file, given === undefined ? flags : { folder: given });
  const withheld =
    found && given === undefined && typeof flags.folder !== 'string' ? whyWithheld(found.path, config) : null;
  const folder = withheld === null ? found : null;
  const code = await readCode(file);
  for (const className of scenes) {
    validate({ code, className, ...request });
    if (!flags.list) await checkTargets(targetsOf(className, format, flags), format);
  }
  return { file, folder, withheld, code, scenes, format, flags, request, server, config, made: [] };
}

/** Where to render, if elsewhere. Error: for flags that a service has no field for. */
export function renderServerOf(flags: RenderFlags): Server | undefined {
  const server = serverOf(flags);
  if (server)
    refuseWithServer({
      '--resolution': flags.resolution,
      '--transparent': flags.transparent,
      '--save_last_frame': flags.save_last_frame,
      '-n': flags.from_animation_number,
      '--save_sections': flags.save_sections,
      '--folder': typeof flags.folder === 'string' ? flags.folder : undefined,
      '--zero_pad': flags.zero_pad,
      '--tex_template': flags.tex_template,
      '--config_file': flags.manimConfig,
    });
  return server;
}

/** Reads manim.cfg, and says which settings have no effect; for a service all of them. */
export function manimConfigFor(
  server: Asked['server'],
  { manimConfig }: Pick<RenderFlags, 'manimConfig'>,
): ManimConfig {
  const manim = readManimConfig(manimConfig);
  const { length } = [...Object.keys(manim.flags), ...Object.keys(manim.settings), ...manim.ignored];
  if (!server) {
    if (manim.ignored.length > 0)
      process.stderr.write(`Settings of manim.cfg that have no effect here: ${manim.ignored.join(', ')}.\n`);
    return manim;
  }
  if (length > 0) process.stderr.write('manim.cfg has no effect with --server.\n');
  return NO_MANIM_CONFIG;
}

/** Settings of manim.cfg are the defaults of the flags. */
function applyConfig(config: ManimConfig['flags'], flags: RenderFlags, scenes: string[]): void {
  const { sizePx, fps, format, all, preview, saveSections, firstPlay, lastPlay = -1, out } = config;
  if (config.disableCaching) flags.disable_caching ??= true;
  if (flags.quality === undefined && sizePx) flags.resolution ??= sizePx;
  if (flags.quality === undefined && fps !== undefined) flags.frame_rate ??= fps;
  // One frame of the whole video has a format of its own.
  const isStill = flags.at !== undefined;
  if (format !== undefined && !flags.out && !flags.save_last_frame && !isStill) flags.format ??= format;
  if (all && scenes.length === 0) flags.all ??= true;
  if (preview) flags.preview ??= true;
  if (saveSections && !isStill) flags.save_sections ??= true;
  if (!isStill && (firstPlay || lastPlay >= 0))
    flags.from_animation_number ??= { firstPlay: firstPlay ?? 0, lastPlay };
  if (out !== undefined && !flags.all && !isStill) flags.out ??= out;
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
    ...paramsOfFlags(flags),
    ...(flags.audio && { audio: flags.audio }),
    ...(flags.formats && { formats: flags.formats }),
    ...framesOfFlags(flags),
    incremental: !flags.disable_caching,
    output: {
      format,
      transparent: flags.transparent ?? false,
      sections: flags.save_sections ?? false,
      ...(flags.at !== undefined && { still: flags.at }),
      ...flags.from_animation_number,
      config,
    },
  };
}

export async function readCode(file: string): Promise<Uint8Array> {
  try {
    return file === '-' ? await buffer(process.stdin) : await readFile(file);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw wrongUsage(`The scene can't be read: there is no file ${file}.`, cause);
    if (code === 'EISDIR')
      throw wrongUsage(`The scene can't be read: ${file} is a folder. Name a Python file in it.`, cause);
    throw wrongUsage(`The scene can't be read: ${message}.`, cause);
  }
}

/** The folder that scenes may read: that of the file, which for standard input must be given. */
export function folderOf(file: string, { folder }: Pick<RenderFlags, 'folder'>): SceneFolder | null {
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

/** Validates before a renderer is started. */
function validate(request: LocalRequest): void {
  try {
    parseLocalRequest(request);
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request')) throw error;
    throw wrongUsage(`${error.message}.`, error);
  }
}

function checkSingleFiles(flags: RenderFlags, several: boolean): void {
  const named = (['out', ...OTHER_ARTIFACTS.map(({ field }) => field)] as const).find(
    (name) => flags[name] !== undefined,
  );
  if (!several || !named || (named === 'out' && isFolder(flags.out ?? ''))) return;
  throw wrongUsage(
    `--${named} names a single file, but there are several scenes. A folder ends with a slash.`,
  );
}

/** Reads a name of a quality, or the letter that the `manim` command uses. */
export function qualityOf(text: string): Quality {
  const quality = QUALITY_NAMES.find((name) => name === text || QUALITIES[name].manimLetter === text);
  if (quality) return quality;
  throw new InvalidArgumentError(`Allowed choices are ${QUALITY_NAMES.join(', ')}.`);
}

export function wrongUsage(message: string, cause?: unknown): UserError {
  return new UserError(message, { exitCode: 2, cause });
}
