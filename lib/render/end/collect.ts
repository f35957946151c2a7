import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isShortage } from '../../files/shortage.ts';
import { ARTIFACTS, type ArtifactFormat, artifactNamesOf } from '../../model/artifacts.ts';
import type { RenderLimits } from '../../model/limits.ts';
import type { RenderedFile, RenderResult, RenderTask } from '../../model/render-task.ts';
import type { EncodeJob } from '../../model/renderer-messages.ts';
import { MOST_PICTURES } from '../../model/renderer-protocol.ts';
import type { ForkCommand } from '../../model/zygote-messages.ts';

/** The index of a video, which is not limited with its pictures and sound. */
const INDEX_LIMIT_BYTES = 16 * 1024 * 1024;

/** With which a later encoding can copy frames of the video. */
const VIDEO_INDEX = 'video.index';
/** That of a video with a million frames. */
const VIDEO_INDEX_LIMIT_BYTES = 64 * 1024 * 1024;

/** Outputs of local renders only: videos and pictures in other formats, and archives of several files. */
const LOCAL_FILES = ['output.webm', 'output.mov', 'output.gif', 'output.png', 'frames.tar', 'sections.tar'];

/** The contact sheet of an inspection. */
const SHEET = 'sheet.jpg';
/** Its pictures. */
const PICTURES = Array.from({ length: MOST_PICTURES }, (_, index) => `picture-${index + 1}.jpg`);
const PICTURE_LIMIT_BYTES = 4 * 1024 * 1024;

/** The files that an encoding may make, and their maximum sizes. */
export function outputsOf(
  { local, makes, isIndexed, formats, pictures: chosen }: EncodeJob,
  { outputBytes }: RenderLimits,
): ForkCommand['outputs'] {
  const videoBytes = outputBytes + INDEX_LIMIT_BYTES;
  const artifacts = artifactNamesOf(formats)
    .filter((name) => ARTIFACTS[name].format !== 'stills' || chosen.includes(name))
    .map((name) => [name, ARTIFACTS[name].maxBytes ?? videoBytes]);
  const ofLocal = local || makes !== 'video' ? LOCAL_FILES.map((name) => [name, videoBytes]) : [];
  const pictures =
    makes === 'pictures' ? [SHEET, ...PICTURES].map((name) => [name, PICTURE_LIMIT_BYTES]) : [];
  const index = isIndexed ? [[VIDEO_INDEX, VIDEO_INDEX_LIMIT_BYTES]] : [];
  return Object.fromEntries([...artifacts, ...ofLocal, ...pictures, ...index]);
}

/** The path of the index that an encoding made; undefined if there is none. */
export async function indexIn(folder: string): Promise<string | undefined> {
  const path = join(folder, VIDEO_INDEX);
  return (await kindOf(path)) === 'file' ? path : undefined;
}

/** The files that the encoding of a task made; undefined when one is missing. */
export async function filesIn(
  folder: string,
  { local, still, inspect, formats = [] }: Pick<RenderTask, 'local' | 'still' | 'inspect' | 'formats'>,
): Promise<Pick<Extract<RenderResult, { kind: 'rendered' }>, 'files' | 'localFiles'> | undefined> {
  if (inspect !== undefined) {
    const pictures = await presentIn(folder, [SHEET, ...PICTURES]);
    return pictures.length > 1 ? { files: [], localFiles: pictures } : undefined;
  }
  const format = still ? 'png' : (local?.format ?? 'mp4');
  const isArtifact = format === 'mp4';
  const files = isArtifact ? await artifactsIn(folder, formats) : [];
  const ofLocal = format === 'mp4' ? LOCAL_FILES : [...LOCAL_FILES, 'captions.vtt'];
  const localFiles = local || still ? await presentIn(folder, ofLocal) : [];
  return files && (isArtifact || localFiles.length > 0) ? { files, localFiles } : undefined;
}

/** The names of the files of these formats that an encoding made. */
export async function othersIn(folder: string, formats: readonly ArtifactFormat[]): Promise<string[]> {
  const names = artifactNamesOf(formats).filter((name) => ARTIFACTS[name].format !== null);
  return (await presentIn(folder, names)).map(({ name }) => name);
}

/** The artifacts that an encoding made; undefined when a required one is missing. */
async function artifactsIn(
  folder: string,
  formats: readonly ArtifactFormat[],
): Promise<RenderedFile[] | undefined> {
  const files: RenderedFile[] = [];
  for (const name of artifactNamesOf(formats)) {
    const path = join(folder, name);
    const kind = await kindOf(path);
    if (kind === 'file') files.push({ name, path });
    else if (kind === 'other' || ARTIFACTS[name].isRequired) return undefined;
  }
  return files;
}

async function presentIn(folder: string, names: string[]): Promise<{ name: string; path: string }[]> {
  const files: { name: string; path: string }[] = [];
  for (const name of names) {
    const path = join(folder, name);
    if ((await kindOf(path)) === 'file') files.push({ name, path });
  }
  return files;
}

/** `file`: a regular one with one hard link; `other`: a link, folder or device. */
async function kindOf(path: string): Promise<'file' | 'other' | 'missing'> {
  const status = await lstat(path).catch((error: unknown) => {
    if (isShortage(error)) throw error;
    return undefined;
  });
  if (status === undefined) return 'missing';
  return status.isFile() && status.nlink === 1 ? 'file' : 'other';
}
