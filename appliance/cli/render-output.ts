import { constants, statSync } from 'node:fs';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve, sep } from 'node:path';
import type { ArtifactName } from '../../lib/index.ts';
import {
  ARTIFACTS,
  type ArtifactField,
  type ArtifactKind,
  artifactNamesOf,
  CONTRACT_ARTIFACTS,
  JOB_FORMATS,
  type JobFormat,
  type LocalFile,
  type LocalOutputOptions,
  othersOf,
  picturesOf,
  type StillAt,
} from '../../lib/internal.ts';
import { saveFile } from '../support/save-file.ts';
import { UserError } from '../support/user-error.ts';
import { checkPictures, unpackPictures, unpackSections } from './unpack.ts';

export type Format = NonNullable<LocalOutputOptions['format']>;

export const FORMATS: Format[] = ['mp4', 'webm', 'mov', 'gif', 'png', 'png-sequence'];
/** The artifacts of every job besides the video; an option with the name of the field takes the path of each. */
export const OTHER_ARTIFACTS: (ArtifactKind & { name: ArtifactName; extension: string })[] =
  CONTRACT_ARTIFACTS.filter((name) => name !== 'video.mp4').map((name) => ({
    name,
    extension: extname(name),
    ...ARTIFACTS[name],
  }));
/** Such as the `.avi` of a file name, but not the `.1` of `lesson.1`. */
const EXTENSION = /^\.[a-z][a-z0-9]{1,4}$/i;

/** The flags that decide format and place of the files. */
export interface OutputFlags extends Partial<Record<ArtifactField, string>> {
  format?: string;
  /** What else the frames become. */
  formats?: JobFormat[];
  save_last_frame?: boolean;
  transparent?: boolean;
  save_sections?: boolean;
  from_animation_number?: { firstPlay: number; lastPlay: number };
  stills?: StillAt[];
  /** Only this frame: seconds, a play, or the last. */
  at?: StillAt;
  out?: string;
}

/** Paths of the files of a scene that are requested. */
export interface Targets {
  /** The video or picture, or the folder of the pictures. */
  output: string;
  /** By field. */
  others: Partial<Record<ArtifactField, string>>;
  /** The folder of the sections' videos. */
  sections: string | null;
}

/** The format that was asked for, also by the extension of the file. Error: for flags that contradict each other. */
export function formatOf(flags: OutputFlags): Format {
  const { transparent = false, thumbnail, save_sections: sections } = flags;
  const isPicture = flags.save_last_frame || flags.at !== undefined;
  const named = isPicture ? 'png' : flags.format === 'auto' ? undefined : flags.format;
  if (named !== undefined && !FORMATS.some((format) => format === named))
    throw wrong(`There is no format ${named}. Formats: ${FORMATS.join(', ')}.`);
  if (flags.save_last_frame && flags.format && flags.format !== 'png') throw wrong('-s is --format png.');
  if (flags.at !== undefined) checkStill(flags);
  const extension = flags.out !== undefined && !isFolder(flags.out) ? extname(flags.out) : '';
  const ofFile = FORMATS.find((format) => `.${format}` === extension.toLowerCase());
  if (!ofFile && EXTENSION.test(extension))
    throw wrong(`${extension} files can't be written. Extensions: .mp4, .webm, .mov, .gif, .png.`);
  const format = (named ?? ofFile ?? (transparent ? 'mov' : 'mp4')) as Format;
  if (ofFile && ofFile !== format) throw wrong(`--format ${format} doesn't fit ${flags.out}.`);
  if (transparent && format === 'mp4')
    throw wrong('MP4 has no transparency. Use --format mov, webm, gif or png, or such a file name.');
  if (sections && (format === 'png' || format === 'png-sequence'))
    throw wrong('--save_sections needs a video: --format mp4, webm, mov or gif.');
  if (thumbnail !== undefined && format !== 'mp4')
    throw wrong('--thumbnail needs --format mp4; for a picture use -s.');
  return format;
}

/** Error: for flags that need more than one frame. */
function checkStill(flags: OutputFlags): void {
  const { format, transparent, save_sections: sections, from_animation_number: plays } = flags;
  if (flags.save_last_frame)
    throw wrong('Use either --at or -s: --at last is the last frame of the video, -s the scene at its end.');
  if (format && format !== 'png') throw wrong('--at writes a PNG: leave out --format.');
  if (transparent || sections || plays)
    throw wrong('--at can not be combined with -t, -n or --save_sections.');
}

/** The paths of a scene's files. */
export function targetsOf(className: string, format: Format, flags: OutputFlags): Targets {
  const ofFormat = format === 'png-sequence' ? '' : `.${format}`;
  const named =
    flags.out === undefined || isFolder(flags.out) ? join(flags.out ?? '.', className) : flags.out;
  const output = resolve(extname(named).toLowerCase() === ofFormat ? named : `${named}${ofFormat}`);
  const beside = output.slice(0, output.length - ofFormat.length);
  const others: Targets['others'] = {};
  for (const { field, extension, isSavedWithVideo } of OTHER_ARTIFACTS) {
    const path = flags[field] ?? (isSavedWithVideo ? `${beside}${extension}` : undefined);
    if (path !== undefined) others[field] = resolve(path);
  }
  for (const name of formatFiles(flags)) others[ARTIFACTS[name].field] = besideOf(beside, name);
  return {
    output,
    others,
    sections: flags.save_sections ? join(dirname(output), 'sections') : null,
  };
}

/** The files of `--formats` and `--stills`. */
function formatFiles({ formats, stills = [] }: OutputFlags): ArtifactName[] {
  const ofFormats = artifactNamesOf(othersOf(formats)).filter((name) => ARTIFACTS[name].format !== null);
  return [...ofFormats, ...picturesOf({ stills }).names];
}

/** `Squares.gif`, but `Squares-frames.zip`. */
function besideOf(output: string, name: ArtifactName): string {
  const isOfVideo = name.startsWith('video.') || name.startsWith('captions.');
  return resolve(isOfVideo ? `${output}${extname(name)}` : `${output}-${name}`);
}

/** Reads names of formats between commas. Error: for one that does not exist. */
export function formatsOf(text: string): JobFormat[] {
  return text.split(',').map((name) => {
    const format = JOB_FORMATS.find((known) => known === name.trim());
    if (!format) throw wrong(`There is no format ${name.trim()}. Formats: ${JOB_FORMATS.join(', ')}.`);
    return format;
  });
}

/** Creates missing folders. Error: when one of the files can't be written there. */
export async function checkTargets({ output, others, sections }: Targets, format: Format): Promise<void> {
  const files = [output, ...Object.values(others)];
  const folders = new Set([...files.map((file) => dirname(file)), ...(sections === null ? [] : [sections])]);
  for (const folder of folders) {
    try {
      await mkdir(folder, { recursive: true });
      await access(folder, constants.W_OK | constants.X_OK);
    } catch (cause) {
      throw wrong(`Files can't be written to ${folder}: ${(cause as NodeJS.ErrnoException).code}.`, cause);
    }
  }
  for (const file of files)
    if (file !== output && isFolder(file)) throw wrong(`${file} is a folder; name a file.`);
  if (format === 'png-sequence') await checkPictures(output);
}

/**
 * Saves the files of a render; null for those that it doesn't have. `most`: the limit of its frames, so of the files of
 * an archive.
 */
export async function saveAll(
  files: LocalFile[],
  targets: Targets,
  { className, format, most, flags }: { className: string; format: Format; most: number; flags: OutputFlags },
): Promise<Saved> {
  const save = async (
    name: string,
    target: string | null | undefined,
    write: (path: string, target: string) => Promise<void> = saveFile,
  ) => {
    const path = files.find((file) => file.name === name)?.path;
    if (path === undefined || !target) return null;
    await write(path, target);
    return target;
  };
  const { output, others, sections } = targets;
  const saved: Partial<Record<ArtifactField, string | null>> = {};
  for (const { name, field } of OTHER_ARTIFACTS) saved[field] = await save(name, others[field]);
  for (const name of formatFiles(flags))
    saved[ARTIFACTS[name].field] = await save(name, others[ARTIFACTS[name].field]);
  if (saved.spritesVtt && saved.sprites) await renameIn(saved.spritesVtt, basename(saved.sprites));
  return {
    output:
      format === 'png-sequence'
        ? await save('frames.tar', output, (path, folder) => unpackPictures(path, folder, most))
        : await save(format === 'mp4' ? 'video.mp4' : `output.${format}`, output),
    ...saved,
    sections: await save('sections.tar', sections, (path, folder) =>
      unpackSections(path, folder, { className, most }),
    ),
  };
}

/** Refers to the sheet of small pictures by its new name. */
async function renameIn(vtt: string, sheet: string): Promise<void> {
  const text = await readFile(vtt, 'utf8');
  await writeFile(
    vtt,
    text.replaceAll('sprites.jpg#', () => `${encodeURIComponent(sheet)}#`),
  );
}

/** Paths of the saved files; null for those that the render doesn't have. */
export type Saved = { output: string | null; sections: string | null } & Partial<
  Record<ArtifactField, string | null>
>;

/** Whether a path names a folder: it is one, or ends with a slash, or with the `separator` of this system. */
export function isFolder(path: string, separator: string = sep): boolean {
  return (
    path.endsWith('/') ||
    path.endsWith(separator) ||
    statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  );
}

function wrong(message: string, cause?: unknown): UserError {
  return new UserError(message, { exitCode: 2, cause });
}
