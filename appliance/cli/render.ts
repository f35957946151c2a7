import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Command, Option } from 'commander';
import {
  type ArtifactName,
  ASPECT_RATIOS,
  type AspectRatio,
  isScenepressError,
  type Job,
  parseRenderRequest,
  QUALITIES,
  type Quality,
  RenderService,
} from '../../lib/index.ts';
import type { Config } from '../config.ts';
import { limitsOf } from '../service.ts';
import { UserError } from '../user-error.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { print, printJson } from './output.ts';
import { ProgressLine } from './progress-line.ts';

interface RenderFlags extends Record<string, unknown> {
  quality: Quality;
  aspect: AspectRatio;
  fps?: string;
  out?: string;
  json?: boolean;
}

const OWNER = 'command line';
const FLAGS: (keyof Config)[] = [
  'python',
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

/** `scenepress render FILE SCENE` */
export function renderCommand(): Command {
  return addConfigFlags(new Command('render'), FLAGS)
    .description('Render a scene of a file, without a server')
    .argument('<file>', 'Python file')
    .argument('<scene>', 'class in it to render')
    .addOption(new Option('-q, --quality <quality>', 'size').choices(QUALITIES).default('medium'))
    .addOption(new Option('--aspect <ratio>', 'landscape or portrait').choices(ASPECT_RATIOS).default('16:9'))
    .option('--fps <number>', 'frames per second (default: that of the quality)')
    .option('-o, --out <file>', 'video to write (default: the name of the scene, .mp4)')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nCaptions, when the scene has any, are written beside the video, as .vtt.')
    .action(async (file: string, scene: string, flags: RenderFlags) => {
      const code = await readFile(file, 'utf8').catch((cause: Error) => {
        throw new UserError(`The scene can't be read: ${cause.message}.`, { exitCode: 2, cause });
      });
      await render(code, scene, flags, configOf(flags));
    });
}

async function render(code: string, className: string, flags: RenderFlags, config: Config): Promise<void> {
  const request = checkedRequest({
    code,
    className,
    quality: flags.quality,
    aspectRatio: flags.aspect,
    ...(flags.fps !== undefined && { fps: Number(flags.fps) }),
  });
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-'));
  const service = new RenderService({
    folder,
    workers: 1,
    limits: limitsOf(config),
    ...(config.studioDir !== undefined && { studioFolder: config.studioDir }),
    renderer: {
      ...(config.python !== undefined && { python: config.python }),
      insecureNoSandbox: config.insecureNoSandbox,
    },
  });
  const progress = new ProgressLine();
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  process.once('SIGTERM', () => interrupted.abort());
  try {
    progress.start();
    service.on('progress', (_, state) => progress.show(state));
    await service.start();
    const { jobId } = await service.enqueue({ ...request, owner: OWNER });
    const job = await service.wait(jobId, { signal: interrupted.signal });
    progress.stop();
    await deliver(service, job, resolve(flags.out ?? `${className}.mp4`), flags.json === true);
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    throw new UserError('Interrupted.', { exitCode: 130, cause: error });
  } finally {
    progress.stop();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function checkedRequest(request: unknown) {
  try {
    return parseRenderRequest(request);
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request')) throw error;
    throw new UserError(`${error.message}.`, { exitCode: 2, cause: error });
  }
}

async function deliver(service: RenderService, job: Job, video: string, json: boolean): Promise<void> {
  const { status, durationMs, error } = job;
  const done = status === 'completed';
  const hasCaptions = job.artifacts.some(({ name }) => name === 'captions.vtt');
  const captions = hasCaptions ? `${video.slice(0, video.length - extname(video).length)}.vtt` : null;
  if (done) await copy(service, job.jobId, 'video.mp4', video);
  if (captions) await copy(service, job.jobId, 'captions.vtt', captions);
  if (json) printJson({ status, video: done ? video : null, captions, durationMs, error });
  else if (done) print(captions ? `${video}\n${captions}` : video);
  else process.stderr.write(`${error}\n`);
  if (!done) process.exitCode = 1;
}

async function copy(service: RenderService, jobId: string, name: ArtifactName, path: string): Promise<void> {
  const { stream } = await service.openArtifact(jobId, name);
  try {
    await pipeline(stream, createWriteStream(`${path}.part`));
    await rename(`${path}.part`, path);
  } catch (cause) {
    await rm(`${path}.part`, { force: true });
    throw new UserError(`The video can't be written: ${(cause as Error).message}.`, { cause });
  }
}
