import { readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createFirstAccount } from '../../appliance/admin/first-account.ts';
import { Appliance } from '../../appliance/app/appliance.ts';
import { loadConfig } from '../../appliance/config/config.ts';
import { openLog } from '../../appliance/support/log.ts';
import {
  LocalRenderer,
  type Quality,
  type RenderProgress,
  type RenderService,
  type RenderUsage,
} from '../../lib/index.ts';
import type { BenchScene } from './bench-scenes.ts';
import { JobMemory } from './job-memory.ts';
import type { Taken } from './manim-command.ts';

const POLL_MS = 10;
const TICK_MS = 10; // USER_HZ is 100 on all architectures.
const PARENT_FIELD = 1;
const TIME_FIELDS = [11, 12, 13, 14]; // Its own, and those of children that it has waited for.

/** A render by the service. */
export interface ServiceRender extends Taken {
  usage: RenderUsage;
  video: string;
}

/** When a job was sent, accepted and so on, in epoch milliseconds. */
export interface Marks {
  posted: number;
  accepted: number;
  claimed: number;
  /** Its process is in the sandbox. */
  loading: number;
  /** The first line of its code ran. */
  first: number;
  /** The last line of its code ran: all its frames were given to the encoder. */
  last: number;
  /** The job has entered its last stage. */
  finishing: number;
  /** Its files are complete. */
  rendered: number;
  /** The end is committed. */
  completed: number;
}

/** A listening appliance with a data folder of its own, and its client. */
export class WarmService {
  readonly #appliance: Appliance;
  readonly #folder: string;
  readonly #url: string;
  readonly #key: string;
  readonly #service: RenderService;

  private constructor(
    appliance: Appliance,
    started: { folder: string; url: string; key: string; service: RenderService },
  ) {
    this.#appliance = appliance;
    this.#folder = started.folder;
    this.#url = started.url;
    this.#key = started.key;
    this.#service = started.service;
  }

  static async start(): Promise<WarmService> {
    const folder = await mkdtemp(join(tmpdir(), 'scenepress-bench-'));
    // The same scene is rendered again and again, each time from nothing.
    const flags = { port: 0, dataDir: join(folder, 'data'), creditsMode: 'unmetered', incremental: false };
    const appliance = new Appliance(
      loadConfig({ flags, env: process.env }),
      openLog({ logLevel: 'error' }).logger,
    );
    const { hapi, installation, service } = await appliance.start();
    const first = await createFirstAccount(installation);
    if (first === undefined) throw new Error('the data folder is not new');
    return new WarmService(appliance, {
      folder,
      url: `${hapi.info.uri}/api/v2/render`,
      key: first.key,
      service,
    });
  }

  /** Renders from POST to `completed`, over HTTP. */
  async render({ name: className, code }: BenchScene, quality: Quality): Promise<ServiceRender> {
    const body = JSON.stringify({ code, className, quality });
    const cpuBeforeMs = cpuMs();
    const memory = new JobMemory();
    const begunMs = performance.now();
    const { jobId } = await this.#json('', { method: 'POST', body });
    for (;;) {
      memory.look();
      const job = await this.#json(`/${jobId}`);
      if (job['status'] === 'failed') throw new Error(`service: ${job['error']}`);
      if (job['status'] === 'completed') break;
      await delay(POLL_MS);
    }
    const wallMs = performance.now() - begunMs;
    const usedMs = cpuMs() - cpuBeforeMs;
    const { usage } = await this.#service.get(String(jobId));
    if (!usage) throw new Error('the job has no usage');
    const video = join(this.#folder, `${jobId}.mp4`);
    const artifact = await this.#service.openArtifact(String(jobId), 'video.mp4');
    artifact.stream.destroy();
    if (typeof artifact.path !== 'string') throw new Error('the video is no file');
    await copyFile(artifact.path, video);
    return { wallMs, cpuMs: usedMs, memoryBytes: memory.peakBytes, usage, video };
  }

  /** Renders a scene that prints `first` and `last` with the time, and waits for its end without polling. */
  async timed({ name: className, code }: BenchScene, quality: Quality): Promise<Marks> {
    const body = JSON.stringify({ code, className, quality });
    const at: Partial<Marks> = {};
    const mark = (name: keyof Marks) => {
      at[name] ??= performance.timeOrigin + performance.now();
    };
    const ended = Promise.withResolvers<void>();
    const onProgress = (_: string, { stage }: RenderProgress) => {
      if (stage === 'loading' || stage === 'finishing') mark(stage);
    };
    const onJob = ({ status }: { status: string }) => {
      if (status === 'running') mark('claimed');
      if (status !== 'completed' && status !== 'failed') return;
      mark('completed');
      ended.resolve();
    };
    this.#service.on('progress', onProgress);
    this.#service.on('job', onJob);
    try {
      mark('posted');
      const { jobId } = await this.#json('', { method: 'POST', body });
      mark('accepted');
      await ended.promise;
      const { error, usage } = await this.#service.get(String(jobId));
      if (error !== null) throw new Error(`service: ${error}`);
      for (const [, name, ms] of (await this.#service.output(String(jobId))).matchAll(/^(\w+) ([\d.]+)$/gm))
        at[name as keyof Marks] = Number(ms);
      at.rendered = (at.finishing ?? 0) + (usage?.stagesMs.finishing ?? 0);
      return at as Marks;
    } finally {
      this.#service.off('progress', onProgress);
      this.#service.off('job', onJob);
    }
  }

  async stop(): Promise<void> {
    await this.#appliance.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #json(path: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${this.#key}` };
    const response = await fetch(`${this.#url}${path}`, { ...init, headers });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  }
}

/** Renders the frames of scenes without loss, to compare videos with. */
export class Originals {
  readonly #folder: string;
  readonly #renderer: LocalRenderer;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#renderer = new LocalRenderer({ folder, workers: 1 });
  }

  static async start(): Promise<Originals> {
    const originals = new Originals(await mkdtemp(join(tmpdir(), 'scenepress-originals-')));
    await originals.#renderer.start();
    return originals;
  }

  /** Calls `use` with the path of an archive of the frames as PNG files. */
  async with<T>(
    { name: className, code }: BenchScene,
    quality: Quality,
    use: (path: string) => Promise<T>,
  ): Promise<T> {
    const render = await this.#renderer.render({
      ...{ code, className, quality, aspectRatio: '16:9' },
      output: { format: 'png-sequence' },
    });
    try {
      const frames = render.files.find((file) => file.name === 'frames.tar');
      if (!frames) throw new Error(`frames: ${render.error}`);
      return await use(frames.path);
    } finally {
      await this.#renderer.discard(render);
    }
  }

  async stop(): Promise<void> {
    await this.#renderer.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** The CPU time of this process and all its descendants, also of those that have ended. */
function cpuMs(): number {
  const parents = new Map<number, number>();
  const ticks = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const status = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
      parents.set(Number(name), Number(fields[PARENT_FIELD]));
      ticks.set(
        Number(name),
        TIME_FIELDS.reduce((sum, field) => sum + Number(fields[field]), 0),
      );
    } catch {
      // It has ended meanwhile.
    }
  }
  let total = 0;
  for (const [pid, own] of ticks) {
    let at: number | undefined = pid;
    while (at !== undefined && at > 1 && at !== process.pid) at = parents.get(at);
    if (at === process.pid) total += own;
  }
  return total * TICK_MS;
}
