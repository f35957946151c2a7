import { EventEmitter } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { known, type Names } from '../base/known-options.ts';
import { ARTIFACTS, artifactNamesOf } from '../model/artifacts.ts';
import { findingOf } from '../model/finding.ts';
import type {
  CheckResult,
  CheckTask,
  ListResult,
  RenderResult,
  RenderTask,
  SceneFault,
  SceneSource,
  StopReason,
} from '../model/render-task.ts';
import { picturesOf } from '../model/selection.ts';
import type { PooledRender, RenderEvents } from '../render/pool/render-pool.ts';
import type { Renderer } from '../render/pool/renderer.ts';
import type { ReadSource, ReadTask } from '../render/reading/scene-reader.ts';
import { RenderService } from '../service/render-service.ts';
import type { RenderServiceOptions } from '../service/render-service-options.ts';
import { makeParts } from '../service/service-parts.ts';
import { SERVICE_OPTIONS } from '../service/valid-options.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { FAKE_ARTIFACTS } from './fake-artifacts.ts';

/** Options of {@link fakeRenderService}: those of {@link RenderService}, and these. */
export interface FakeRenderServiceOptions extends RenderServiceOptions {
  /** Milliseconds that a render takes; default 0. */
  renderMs?: number;
  /** The error of a scene, also with what it fails by (default `scene`); undefined if it completes. Default: all do. */
  failureOf?: (scene: {
    code: string;
    className: string;
  }) => string | { error: string; failedBy: SceneFault } | undefined;
}

const OPTIONS: Names<FakeRenderServiceOptions> = { ...SERVICE_OPTIONS, renderMs: true, failureOf: true };

/**
 * A service that renders nothing, for tests of embedders: needs no Python, and each job leaves the same small MP4 (one
 * second of black, 32 × 18), JPEG and, if its code contains `subcaption`, WebVTT; files of other formats are empty. All else is real: storage, ledger,
 * queue, webhooks, events.
 *
 * ```ts
 * const service = fakeRenderService({ failureOf: ({ code }) => (code.includes('1/0') ? 'ZeroDivisionError' : undefined) });
 * await service.start();
 * ```
 *
 * Without a place for its data it uses a temporary folder, which `stop` removes.
 */
export function fakeRenderService(given: FakeRenderServiceOptions = {}): RenderService {
  const { renderMs = 0, failureOf = () => undefined, ...rest } = known('fakeRenderService', given, OPTIONS);
  const hasPlace = rest.folder !== undefined || rest.dataFolder || rest.storage;
  const temporary = hasPlace ? undefined : mkdtempSync(join(tmpdir(), 'scenepress-fake-'));
  const options = temporary === undefined ? rest : { ...rest, folder: temporary };
  const { workers = 1, clock = systemClock } = options;
  const renderer = new FakeRenderer({ size: workers, clock, renderMs, failureOf });
  const service = new RenderService(
    options,
    makeParts(options, { renderer: renderer as unknown as Renderer }),
  );
  if (temporary !== undefined) {
    const stop = service.stop.bind(service);
    service.stop = async (options) => {
      await stop(options);
      await rm(temporary, { recursive: true, force: true });
    };
  }
  return service;
}

type Settings = Required<Pick<FakeRenderServiceOptions, 'renderMs' | 'failureOf'>> & {
  size: number;
  clock: Clock;
};

/** Stands in for {@link Renderer}. */
class FakeRenderer extends EventEmitter<{ ready: [] }> {
  readonly size: number;
  readonly mayRender = true;
  readonly #settings: Settings;

  constructor(settings: Settings) {
    super();
    this.size = settings.size;
    this.#settings = settings;
  }

  render(
    { code: source, className, formats = [], selection }: Omit<RenderTask, 'port'>,
    events: RenderEvents,
  ): PooledRender {
    const code = textOf(source);
    const { clock, renderMs: durationMs, failureOf } = this.#settings;
    const { promise: result, resolve } = Promise.withResolvers<RenderResult>();
    const end = async () => {
      events.onProgress({ type: 'progress', stage: 'finishing', frames: 15, seconds: 1 });
      const failure = failureOf({ code, className });
      if (typeof failure === 'string')
        resolve({ kind: 'failed', durationMs, error: failure, failedBy: 'scene' });
      else if (failure) resolve({ kind: 'failed', durationMs, ...failure });
      else resolve(await rendered(code, formats, selection, durationMs));
    };
    const startedMs = clock.uptimeMs();
    clock.after(0, () => events.onStarted());
    const timer = clock.after(durationMs, () => void end());
    const stop = (reason: StopReason) => {
      timer.cancel();
      resolve({ kind: 'stopped', durationMs: 0, reason });
    };
    return { result, stop, workedMs: () => clock.uptimeMs() - startedMs };
  }

  async listScenes(code: SceneSource): Promise<ListResult> {
    const scenes = textOf(code).matchAll(/^class (\w+)\(.*Scene\b.*\):/gm);
    return { kind: 'listed', scenes: Array.from(scenes, ([, name = '']) => name), durationMs: 0 };
  }

  async check({ checkSceneOf, className }: CheckTask): Promise<CheckResult> {
    const failure = this.#settings.failureOf({ code: textOf(checkSceneOf), className });
    if (!failure)
      return {
        kind: 'checked',
        frames: 15,
        seconds: 1,
        readsPixels: false,
        plays: [],
        params: [],
        durationMs: 0,
      };
    const said = typeof failure === 'string' ? { error: failure, failedBy: 'scene' as const } : failure;
    return { kind: 'failed', durationMs: 0, ...said };
  }

  async read({ code, className = '' }: ReadTask): Promise<ReadSource> {
    const failure = this.#settings.failureOf({ code: textOf(code), className });
    if (!failure) return { findings: [], params: [] };
    const said = typeof failure === 'string' ? { error: failure, failedBy: 'scene' as const } : failure;
    return { findings: [findingOf(said)], params: [] };
  }

  get status(): Renderer['status'] {
    const good = { deaths: 0, refused: false, broken: false, workFolderUnusable: false };
    return { workers: this.size, warmWorkers: this.size, ...good, versions: null, sandbox: null };
  }

  async start(): Promise<void> {}
  async stopWatch(): Promise<void> {}
  async stop(): Promise<void> {}
}

async function rendered(
  code: string,
  formats: NonNullable<RenderTask['formats']>,
  selection: RenderTask['selection'],
  durationMs: number,
): Promise<RenderResult> {
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-fake-'));
  const hasCaptions = code.includes('subcaption');
  const chosen = picturesOf(selection).names;
  const names = artifactNamesOf(formats).filter(
    (name) =>
      ARTIFACTS[name].isRequired || chosen.includes(name) || (hasCaptions && name.startsWith('captions.')),
  );
  const files = names.map((name) => ({ name, path: join(folder, name) }));
  for (const { name, path } of files) await writeFile(path, FAKE_ARTIFACTS[name] ?? '');
  return { kind: 'rendered', durationMs, frames: 15, seconds: 1, files, plays: [], folder };
}

function textOf(code: SceneSource): string {
  return typeof code === 'string' ? code : Buffer.from(code).toString();
}
