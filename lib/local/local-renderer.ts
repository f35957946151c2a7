import { chmod } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { abortable } from '../async/abortable.ts';
import { checked } from '../base/checked.ts';
import { ScenepressError } from '../base/errors.ts';
import { known, type Names, SIGNAL } from '../base/known-options.ts';
import { type Logger, silentLogger } from '../base/logger.ts';
import { systemRandom } from '../base/random.ts';
import { type ChecksScenes, checkScenes, readScenes } from '../jobs/run/check-scenes.ts';
import { inspectedOf, inspectScenes, type PictureTask } from '../jobs/run/inspect-scenes.ts';
import { scenesOf } from '../jobs/run/scenes-of.ts';
import type { CheckedSource, CheckOptions } from '../model/checked-source.ts';
import { type Finding, findingOf } from '../model/finding.ts';
import { othersOf } from '../model/formats.ts';
import type { InspectedSource } from '../model/inspected-source.ts';
import { frameSizeOf, QUALITIES } from '../model/qualities.ts';
import type { Play, RenderProgress, RenderResult, RenderUsage, SceneFault } from '../model/render-task.ts';
import { partOf } from '../model/selection.ts';
import { discardFolder } from '../render/end/remove-folder.ts';
import { Renderer, studioOf } from '../render/pool/renderer.ts';
import { checkRenderer } from '../render/start/launcher.ts';
import type { SceneFolder } from '../render/start/scene-folder.ts';
import { Speaker } from '../speech/speaker.ts';
import { systemClock } from '../time/clock.ts';
import { KeptVideos } from './kept-videos.ts';
import type { LocalRendererOptions } from './local-options.ts';
import { outputOf } from './local-output.ts';
import { type LocalRequest, parseLocalRequest } from './local-request.ts';
import { LOCAL_OPTIONS } from './valid-options.ts';

/** What both checks and inspections are given. */
const CHECKED: Names<LocalCheckOptions> = {
  ...{ className: true, quality: true, aspectRatio: true, fps: true },
  ...{ params: true, config: true, signal: true },
};
/** Results after which a render is tried again. */
const MAY_SUCCEED = new Set<RenderResult['kind']>(['died', 'killed', 'interrupted', 'unavailable']);
type LocalTask = Omit<Parameters<Renderer['render']>[0], 'jobId' | 'background'>;

/** Its owner may list it; users of renders may only pass through. */
const TRAVERSABLE = 0o711;

/**
 * A file that a render made: an artifact as of a service, or `output.<format>`, `frames.tar` (PNG files) or
 * `sections.tar` (videos and their index).
 */
export interface LocalFile {
  /** As listed above. */
  name: string;
  /** Absolute. */
  path: string;
}

/** A finished render. */
export interface LocalRender {
  /** Whether there are files. */
  status: 'completed' | 'failed';
  /** Milliseconds. */
  durationMs: number;
  /** Why it failed, for the scene's author; null when it completed. */
  error: string | null;
  /** What it failed by, for programs; null when it completed, or when a server that rendered it does not say. */
  failedBy: SceneFault | null;
  /** What is wrong with the scene, where, and what to write instead; null where `failedBy` is. */
  diagnosis: Finding | null;
  /** Output of the scene, and warnings: at most 33,000 characters. */
  output: string;
  /** The plays and waits of the scene, at most 1,000; none if it failed, or if a server rendered it. */
  plays: Play[];
  /** What the render took; null if it did not end by itself. */
  usage: RenderUsage | null;
  /** In a temporary folder that {@link LocalRenderer.discard} removes. */
  files: LocalFile[];
}

/** Options of checks and inspections. */
export interface LocalCheckOptions extends Omit<CheckOptions, 'dryRun' | 'audio'> {
  /** Settings of a manim.cfg, such as `background_color`. */
  config?: Record<string, string>;
  /** Aborts it. */
  signal?: AbortSignal;
}

/** Events of a render for its caller. */
export interface LocalRenderOptions {
  /** Ends the render; it rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called as the render advances. */
  onProgress?: (progress: RenderProgress) => void;
  /** Called with the parts of {@link LocalRender.output} as they come. */
  onOutput?: (text: string) => void;
}

/**
 * Renders scenes of this machine's user in the sandbox, without jobs, store or credits. Unlike those of a
 * {@link RenderService}, they may read a folder of the user.
 *
 * ```ts
 * const renderer = new LocalRenderer({ folder: '/tmp/renders', sceneFolder: sceneFolderOf('lessons/one.py') });
 * await renderer.start();
 * const render = await renderer.render({ code, className: 'One', output: { format: 'gif' } });
 * if (render.status === 'failed') throw new Error(render.error ?? '');
 * for (const { name, path } of render.files) await copyFile(path, name);
 * await renderer.discard(render);
 * await renderer.stop();
 * ```
 */
export class LocalRenderer {
  readonly #renderer: Renderer;
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #sceneFolder: SceneFolder | undefined;
  readonly #kept: KeptVideos | undefined;
  readonly #folders = new WeakMap<LocalRender, string>();
  readonly #stopping = new AbortController();
  #stopped: Promise<void> | undefined;
  #renders = 0;

  constructor(options: LocalRendererOptions) {
    const {
      folder,
      sceneFolder,
      studioFolder,
      cacheFolder,
      workers,
      limits,
      renderer = {},
      speech,
      logger = silentLogger,
      clock = systemClock,
    } = checked('LocalRenderer', options, LOCAL_OPTIONS);
    checkRenderer(renderer);
    this.#folder = resolve(folder);
    this.#logger = logger;
    this.#sceneFolder = sceneFolder;
    if (cacheFolder !== undefined)
      this.#kept = new KeptVideos({ folder: resolve(cacheFolder), logger, random: systemRandom });
    this.#renderer = new Renderer({
      renderer,
      studio: studioOf(studioFolder, undefined),
      ...(sceneFolder && { scene: sceneFolder }),
      workers,
      limits,
      workFolder: join(this.#folder, 'work'),
      probeAfterMs: 0,
      clock,
      random: systemRandom,
      logger,
      speaker: speech && new Speaker(speech, { clock, random: systemRandom, logger }),
      spareSpace: undefined,
    });
  }

  /** Starts the workers; resolves when one is warm. `signal` aborts it; then stop it. Error: `renderer_unavailable`. */
  async start(options: { signal?: AbortSignal } = {}): Promise<void> {
    const { signal } = known('start', options, SIGNAL);
    const allowTraversal = () => chmod(this.#folder, TRAVERSABLE);
    const { signal: stopping } = this.#stopping;
    const either = signal ? AbortSignal.any([stopping, signal]) : stopping;
    await this.#renderer.start({ allowTraversal, signal: either });
  }

  /** Ends all renders and processes. It cannot be started again. */
  stop(): Promise<void> {
    this.#stopping.abort(stopped());
    this.#stopped ??= this.#renderer.stop();
    return this.#stopped;
  }

  /**
   * The scenes that a source defines, found by running it in the sandbox. `file`: as that of {@link LocalRequest}. Error:
   * `invalid_request` with its error.
   */
  async scenesOf(
    code: string | Uint8Array,
    options: { signal?: AbortSignal; file?: string } = {},
  ): Promise<string[]> {
    return scenesOf(this.#renderer, code, known('scenesOf', options, { signal: true, file: true }));
  }

  /**
   * Runs the scenes of a source, or one of them, without drawing them, and tells what is wrong, where, and what to write
   * instead. Errors: `invalid_request`, `renderer_unavailable`.
   */
  async check(
    code: string | Uint8Array,
    options: LocalCheckOptions & Pick<CheckOptions, 'dryRun'> = {},
  ): Promise<CheckedSource> {
    const names = { ...CHECKED, dryRun: true };
    const { signal, config = {}, dryRun = true, ...named } = known('check', options, names);
    if (!dryRun)
      return readScenes(this.#renderer, { code, className: named.className, params: named.params }, signal);
    const local = outputOf({ config }, named.aspectRatio);
    const checks: ChecksScenes = {
      listScenes: (source, how) => this.#renderer.listScenes(source, how),
      check: (task) => this.#renderer.check({ ...task, local }),
      read: (task, abort) => this.#renderer.read(task, abort),
    };
    return checkScenes(checks, code, named, (run) => {
      signal?.throwIfAborted();
      return abortable(run({ background: false, isTexHeld: false }), signal);
    });
  }

  /**
   * Runs the scenes of a source, or one of them, and draws pictures of them, without a video; tells what is wrong with the
   * code, and what they show that can't be read or seen. Errors: those of {@link render}.
   */
  async inspect(code: string | Uint8Array, options: LocalCheckOptions = {}): Promise<InspectedSource> {
    const { signal, config = {}, ...named } = known('inspect', options, CHECKED);
    const local = outputOf({ config }, named.aspectRatio);
    const listScenes = (source: string | Uint8Array) => abortable(this.#renderer.listScenes(source), signal);
    const inspect = async (task: PictureTask) => {
      const result = await this.#tryTwice({ ...task, local, previewIntervalMs: 0 }, signal ? { signal } : {});
      if (result.kind === 'failed' || result.kind === 'killed') return { ...result, kind: 'failed' as const };
      if (result.kind !== 'rendered') throw this.#errorOf(result);
      try {
        return { kind: 'inspected' as const, ...(await inspectedOf(task.className, result)) };
      } finally {
        await this.#remove(result.folder);
      }
    };
    return inspectScenes({ listScenes, inspect }, code, named);
  }

  /**
   * Renders a scene; more than `workers` renders take turns. Errors: `invalid_request`; `renderer_unavailable`;
   * `not_running` when it is stopped meanwhile.
   */
  async render(request: LocalRequest, options: LocalRenderOptions = {}): Promise<LocalRender> {
    known('render', options, { signal: true, onProgress: true, onOutput: true });
    const valid = parseLocalRequest(request);
    const {
      code,
      className,
      quality,
      aspectRatio,
      fps = QUALITIES[quality].fps,
      sizePx,
      file,
      params,
      audio,
      output = {},
      formats,
      selection,
      incremental = true,
    } = valid;
    const size = sizePx
      ? { widthPx: sizePx.width, heightPx: sizePx.height }
      : frameSizeOf(quality, aspectRatio);
    const { still, ...whole } = outputOf(output, aspectRatio);
    const local = { ...whole, ...(file !== undefined && { file }) };
    const kept = incremental && !still && local.format === 'mp4' ? this.#kept : undefined;
    const folder = this.#sceneFolder;
    const identity = [folder && [folder.path, file ?? folder.file], className, size, fps];
    const earlier = await kept?.find(identity);
    const task = {
      ...{ code, className, fps, ...size, previewIntervalMs: 0, local },
      ...(still && { still }),
      ...(params && { params }),
      ...(audio && { audio }),
      ...(formats && { formats: othersOf(formats) }),
      ...(selection && { selection }),
      isIndexed: kept !== undefined,
      ...(earlier && { earlier }),
    };
    const result = await this.#tryTwice(task, options);
    const isWhole = partOf(selection) === null;
    if (kept && isWhole && result.kind === 'rendered' && result.index !== undefined) {
      const video = result.files.find(({ name }) => name === 'video.mp4');
      if (video) await kept.keep(identity, { index: result.index, video: video.path });
    }
    return this.#renderOf(result);
  }

  /** Removes the files of a render. */
  async discard(render: LocalRender): Promise<void> {
    const folder = this.#folders.get(render);
    if (folder !== undefined) await this.#remove(folder);
  }

  #remove(folder: string): Promise<void> {
    return discardFolder(folder, (problem) => this.#logger.warn({}, problem));
  }

  async #tryTwice(task: LocalTask, options: LocalRenderOptions): Promise<RenderResult> {
    const result = await this.#attempt(task, options);
    return MAY_SUCCEED.has(result.kind) ? this.#attempt(task, options) : result;
  }

  async #attempt(
    task: LocalTask,
    { signal, onProgress = () => {}, onOutput = () => {} }: LocalRenderOptions,
  ): Promise<RenderResult> {
    signal?.throwIfAborted();
    const { result, stop } = this.#renderer.render(
      { ...task, jobId: `${++this.#renders}`, background: false },
      {
        onStarted: () => {},
        onProgress: ({ type: _, ...progress }) => onProgress(progress),
        onPreview: () => {},
        onOutput,
      },
    );
    const cancel = () => stop('canceled');
    signal?.addEventListener('abort', cancel);
    try {
      const ended = await result;
      if (signal?.aborted && ended.kind === 'rendered') await this.#remove(ended.folder);
      return ended;
    } finally {
      signal?.removeEventListener('abort', cancel);
      signal?.throwIfAborted();
    }
  }

  #renderOf(result: RenderResult): LocalRender {
    const { durationMs } = result;
    switch (result.kind) {
      case 'rendered': {
        const files = [...result.files, ...(result.localFiles ?? [])];
        const render: LocalRender = {
          status: 'completed',
          durationMs,
          error: null,
          failedBy: null,
          diagnosis: null,
          output: result.output ?? '',
          plays: result.plays,
          usage: result.usage ?? null,
          files,
        };
        this.#folders.set(render, result.folder);
        return render;
      }
      case 'failed':
      case 'killed':
        return {
          status: 'failed',
          durationMs,
          error: result.error,
          failedBy: result.failedBy,
          diagnosis: result.finding ?? findingOf(result),
          output: result.output ?? '',
          plays: [],
          usage: result.usage ?? null,
          files: [],
        };
      default:
        throw this.#errorOf(result);
    }
  }

  #errorOf(result: Exclude<RenderResult, { kind: 'rendered' | 'failed' | 'killed' }>): ScenepressError {
    if (result.kind === 'stopped') return stopped();
    return result.kind === 'disk_full'
      ? new ScenepressError('storage_full', `The disk of ${this.#folder} is full.`)
      : new ScenepressError('renderer_unavailable', `The renderer failed: ${result.message}.`);
  }
}

function stopped(): ScenepressError {
  return new ScenepressError('not_running', 'The renderer was stopped.');
}
