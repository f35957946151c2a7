import { lstat, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { isShortage } from '../../files/shortage.ts';
import { ARTIFACT_NAMES, ARTIFACTS, type ArtifactName } from '../../model/artifacts.ts';
import type { RenderLimits } from '../../model/limits.ts';
import type { RenderedFile, SceneFailure } from '../../model/render-task.ts';
import type { ForkCommand, RendererJob } from '../../model/renderer-messages.ts';

const MIB = 1024 * 1024;
/** An inspection rewrites the video with a new index. */
const INDEX_LIMIT_BYTES = 16 * MIB;

/** Outputs of local renders only: videos and pictures in other formats, and archives of several files. */
const LOCAL_FILES = ['output.webm', 'output.mov', 'output.gif', 'output.png', 'frames.tar', 'sections.tar'];

/** The input files of a job, and its output files with their maximum sizes. `isStreamed`: the video is no file. */
export function filesOf(
  job: RendererJob,
  { outputBytes }: RenderLimits,
  { isStreamed }: { isStreamed: boolean },
): Pick<ForkCommand, 'inputs' | 'outputs'> {
  const { kind } = job;
  const ofScene = ARTIFACT_NAMES.filter((name) => ARTIFACTS[name].isMadeByScene);
  if (kind === 'inspect') {
    const published = ARTIFACT_NAMES.map((name) => [
      publishedName(name),
      ARTIFACTS[name].maxBytes ?? outputBytes + INDEX_LIMIT_BYTES,
    ]);
    return { inputs: isStreamed ? [] : ofScene, outputs: Object.fromEntries(published) };
  }
  if (kind === 'list' || isStreamed) return { inputs: [], outputs: {} };
  const outputs = Object.fromEntries(ofScene.map((name) => [name, ARTIFACTS[name].maxBytes ?? outputBytes]));
  const ofLocal = Object.fromEntries(LOCAL_FILES.map((name) => [name, outputBytes]));
  return { inputs: [], outputs: job.local ? { ...outputs, ...ofLocal } : outputs };
}

/**
 * Moves the video and the other artifacts of a scene to a folder that it never had access to. Called when all processes of the
 * job are dead, so the checked files can no longer change. Returns what is wrong with the video.
 */
export async function collectFiles(
  jobFolder: string,
  outFolder: string,
  limits: RenderLimits,
): Promise<SceneFailure | undefined> {
  const video = await plainFileSize(join(jobFolder, 'video.mp4'));
  if (video === undefined) return { error: 'The scene left no video.', failedBy: 'scene' };
  if (video > limits.outputBytes) {
    return {
      error: `The video is larger than the limit of ${Math.round(limits.outputBytes / MIB)} MiB.`,
      failedBy: 'limit:output',
    };
  }
  await rename(join(jobFolder, 'video.mp4'), join(outFolder, 'video.mp4'));

  for (const name of ARTIFACT_NAMES) {
    const { isMadeByScene, maxBytes } = ARTIFACTS[name];
    if (!isMadeByScene || maxBytes === null) continue;
    const sizeBytes = await plainFileSize(join(jobFolder, name));
    if (sizeBytes !== undefined && sizeBytes <= maxBytes)
      await rename(join(jobFolder, name), join(outFolder, name));
  }
  return undefined;
}

/** Moves the files of a local render that are not inspected: they are for the user who runs the scene. */
export async function collectLocalFiles(
  jobFolder: string,
  outFolder: string,
  { outputBytes }: RenderLimits,
  { withCaptions }: { withCaptions: boolean },
): Promise<{ name: string; path: string }[]> {
  const files: { name: string; path: string }[] = [];
  for (const name of withCaptions ? [...LOCAL_FILES, 'captions.vtt'] : LOCAL_FILES) {
    const size = await plainFileSize(join(jobFolder, name));
    if (size === undefined || size > outputBytes) continue;
    const path = join(outFolder, name);
    await rename(join(jobFolder, name), path);
    files.push({ name, path });
  }
  return files;
}

/** The name of the file that an inspection writes: a file of the scene may have the name of the artifact. */
export function publishedName(name: ArtifactName): string {
  return `published-${name}`;
}

/** The files that an inspection wrote; undefined when a required one is missing. */
export async function publishedFiles(folder: string): Promise<RenderedFile[] | undefined> {
  const files: RenderedFile[] = [];
  for (const name of ARTIFACT_NAMES) {
    const path = join(folder, publishedName(name));
    const status = await lstat(path).catch(() => undefined);
    if (status?.isFile() && status.nlink === 1) files.push({ name, path });
    else if (status || ARTIFACTS[name].isRequired) return undefined;
  }
  return files;
}

/** Size of a regular file with one hard link; undefined for missing files, links, folders and devices. */
async function plainFileSize(path: string): Promise<number | undefined> {
  const status = await lstat(path).catch((error: unknown) => {
    if (isShortage(error)) throw error;
    return undefined;
  });
  return status?.isFile() && status.nlink === 1 ? status.size : undefined;
}
