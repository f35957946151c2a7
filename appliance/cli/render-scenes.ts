import type { LocalRender, RenderProgress } from '../../lib/index.ts';
import { abortable, isScenepressError } from '../../lib/internal.ts';
import { flagOf } from '../config/options.ts';
import { interruptible } from '../runtime/interruptible.ts';
import { UserError } from '../support/user-error.ts';
import { shownWork } from '../support/work-times.ts';
import { remedyOf } from './missing-files.ts';
import { openFile } from './open-file.ts';
import { print, printable } from './output.ts';
import { RENDERER_FLAGS, withOwnRenderer } from './own-renderer.ts';
import type { ProgressLine } from './progress-line.ts';
import { RemoteRenderer } from './remote-renderer.ts';
import { RemoteService } from './remote-service.ts';
import { checkTargets, type Saved, saveAll, targetsOf } from './render-output.ts';
import { type Asked, type RenderFlags, wrongUsage } from './render-request.ts';
import type { Renders } from './warm-renderer.ts';

/** A call that renders. */
export interface Running {
  progress: ProgressLine;
  interrupted: AbortSignal;
}

/** What became of a scene, as `--json` prints it. */
export interface RenderedScene
  extends Omit<Saved, 'output'>,
    Pick<LocalRender, 'status' | 'durationMs' | 'usage' | 'error' | 'failedBy' | 'diagnosis' | 'output'> {
  scene: string;
  /** The path of the video or picture, or of the folder of pictures; null if there is none. */
  video: string | null;
}

const MIB = 1024 * 1024;
/** How long a service may take to receive files. */
const SENT_WITHIN_MS = 10 * 60_000;

/** Calls `work` with the renderer of a call: a service, or one of this machine. */
export async function withRendererOf(
  { folder, server, flags, config }: Pick<Asked, 'folder' | 'server' | 'flags' | 'config'>,
  { workers, progress }: { workers: number; progress: ProgressLine },
  work: (renderer: Renders, interrupted: AbortSignal) => Promise<void>,
): Promise<void> {
  const shown = async (renderer: Renders, interrupted: AbortSignal) => {
    progress.start();
    await work(renderer, interrupted).finally(() => progress.stop());
  };
  if (server) {
    const unused = [...RENDERER_FLAGS, 'keepWarm'].filter(
      (name) => name !== 'renderOutputMb' && flags[name] !== undefined,
    );
    if (unused.length > 0)
      process.stderr.write(`No effect on renders by a service: ${unused.map(flagOf).join(', ')}.\n`);
    const service = new RemoteService(server, {
      mostBytes: config.renderOutputMb * MIB,
      ...(flags.file && { timeoutMs: SENT_WITHIN_MS }),
    });
    return interruptible((signal) => shown(new RemoteRenderer(service, flags.file), signal));
  }
  const { keepWarm, watch: isLasting = false } = flags;
  await withOwnRenderer({ folder, config, workers, keepWarm, isLasting, progress }, shown);
}

/** The scenes to render: those that were named, all of the file with `--all`, or its only one. */
export async function chosenScenes(
  renderer: Renders,
  asked: Asked,
  interrupted: AbortSignal,
): Promise<string[]> {
  const { file, scenes, format, flags } = asked;
  if (scenes.length > 0) return scenes;
  const names = chosen(file, await scenesIn(renderer, asked, interrupted), flags);
  for (const className of names) await checkTargets(targetsOf(className, format, flags), format);
  return names;
}

/** Error: when the code can't be run. */
export async function scenesIn(renderer: Renders, asked: Asked, signal: AbortSignal): Promise<string[]> {
  if (asked.code.length === 0) return [];
  const { file } = asked.request;
  const options = { signal, ...(file !== undefined && { file }) };
  try {
    return await abortable(renderer.scenesOf(asked.code, options), signal);
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request')) throw error;
    throw new UserError(
      `The scenes can't be listed:\n${withRemedy(error.message, remedyOf(error.message, asked))}`,
      {
        cause: error,
      },
    );
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

/** Renders a scene, saves its files, prints their paths unless with `--json`, and returns the result. */
export async function renderScene(
  renderer: Renders,
  className: string,
  asked: Asked,
  running: Running & { onProgress?: (progress: RenderProgress) => void },
): Promise<RenderedScene> {
  const { code, request, format, flags, config, made } = asked;
  const { progress, interrupted, onProgress } = running;
  const rendered = await renderer.render(
    { code, className, ...request },
    {
      signal: interrupted,
      onProgress: (now) => {
        progress.show(now);
        onProgress?.(now);
      },
      onOutput: progress.write.bind(progress),
    },
  );
  progress.show(null);
  const { status, durationMs, failedBy, diagnosis, output: printed, usage } = rendered;
  const saved = await saveAll(rendered.files, targetsOf(className, format, flags), {
    className,
    format,
    most: config.renderFrames,
    flags,
  });
  await renderer.discard(rendered);
  const remedy = rendered.error === null ? undefined : remedyOf(rendered.error, asked);
  const error = rendered.error === null ? null : withRemedy(rendered.error, remedy);
  const hint = remedy === undefined ? diagnosis?.hint : undefined;
  if (error !== null) process.exitCode ||= 1;
  const { output, ...others } = saved;
  made.push(...Object.values(saved).filter((path) => path !== null));
  if (!flags.json) {
    progress.clear();
    if (error !== null)
      process.stderr.write(`${className}: ${printable(hint ? `${error}\nHint: ${hint}` : error)}\n`);
    for (const path of [output, ...Object.values(others)]) if (path) print(path);
    if (flags.times && usage?.workMs)
      process.stderr.write(`${className}: ${shownWork(usage.workMs)}${shownCopies(usage.copiedFrames)}\n`);
  }
  if (flags.preview && output) openFile(output);
  return {
    scene: className,
    status,
    video: output,
    ...others,
    durationMs,
    usage,
    error,
    failedBy,
    diagnosis,
    output: printed,
  };
}

function shownCopies(copiedFrames: number): string {
  if (copiedFrames === 0) return '';
  return `; ${copiedFrames} ${copiedFrames === 1 ? 'frame' : 'frames'} copied from the last video`;
}

function withRemedy(error: string, remedy: string | undefined): string {
  return remedy === undefined ? error : `${error}\n${remedy}`;
}
