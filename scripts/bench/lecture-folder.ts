import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { QUALITIES, type Quality } from '../../lib/index.ts';
import type { Lecture } from './lectures.ts';
import { MANIM, runPython } from './python.ts';

const SCENEPRESS = join(import.meta.dirname, '../scenepress.mjs');
/** How long a warm renderer waits for the next call: longer than the slowest command in between. */
const WARM_MINUTES = 15;
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Of a whole command. */
export interface Timed {
  wallMs: number;
  video: string;
}

export interface FolderOptions {
  /** Ends the running command. */
  stop: AbortSignal;
  /** Where warm renderers of `scenepress` are, as in a terminal; null: each command starts one. */
  warmFolder: string | null;
}

/**
 * A temporary folder with a lecture, as somebody works on it, and the caches of both commands beside it. These have the
 * same paths in each render; what they were after the first one can be put back.
 */
export class LectureFolder {
  readonly #folder: string;
  readonly #lecture: Lecture;
  readonly #quality: Quality;
  readonly #options: FolderOptions;

  private constructor(folder: string, lecture: Lecture, quality: Quality, options: FolderOptions) {
    this.#folder = folder;
    this.#lecture = lecture;
    this.#quality = quality;
    this.#options = options;
  }

  static async create(lecture: Lecture, quality: Quality, options: FolderOptions): Promise<LectureFolder> {
    const folder = new LectureFolder(
      await mkdtemp(join(tmpdir(), 'scenepress-bench-')),
      lecture,
      quality,
      options,
    );
    try {
      // Scenes of root run as another user, who must be able to read them.
      await chmod(folder.#folder, 0o755);
      for (const name of ['lecture', 'media', 'cache', 'videos'] as const) await mkdir(folder.#path(name));
      await runPython('materials.py', [folder.#path('lecture')]);
      return folder;
    } catch (error) {
      await folder.remove();
      throw error;
    }
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  async save(code: string): Promise<void> {
    await writeFile(this.#file, code);
  }

  /** Renders the present code from nothing with both commands, and keeps their caches. */
  async warm(): Promise<void> {
    await this.manim();
    await this.scenepress('warm');
    await cp(this.#path('media'), this.#path('warm-media'), COPY);
    await cp(this.#path('cache'), this.#path('warm-cache'), COPY);
  }

  /** Whether the first render left anything that Scenepress may use again. */
  async hasWarmCache(): Promise<boolean> {
    const entries = await readdir(this.#path('warm-cache'), { recursive: true, withFileTypes: true });
    return entries.some((entry) => entry.isFile());
  }

  /** Puts back what both commands had kept after the first render. */
  async restoreCaches(): Promise<void> {
    await this.emptyCache();
    await rm(this.#path('media'), { recursive: true });
    await cp(this.#path('warm-media'), this.#path('media'), COPY);
    await cp(this.#path('warm-cache'), this.#path('cache'), COPY);
  }

  /** Leaves nothing that Scenepress may use again. */
  async emptyCache(): Promise<void> {
    await rm(this.#path('cache'), { recursive: true });
    await mkdir(this.#path('cache'));
  }

  /** Renders with the `manim` command, whose cache is in its media folder. */
  async manim(): Promise<Timed> {
    const { className, name } = this.#lecture;
    const { manimLetter, fps, heightPx } = QUALITIES[this.#quality];
    const media = this.#path('media');
    const args = ['render', `-q${manimLetter}`, '--progress_bar', 'none', '--media_dir', media];
    const wallMs = await this.#timed(MANIM, [...args, this.#file, className]);
    return { wallMs, video: join(media, 'videos', name, `${heightPx}p${fps}`, `${className}.mp4`) };
  }

  /** Renders with the `scenepress` command. It reports no progress, as without a terminal. */
  async scenepress(output: string): Promise<Timed> {
    const video = join(this.#path('videos'), `${output}.mp4`);
    const args = ['render', this.#file, this.#lecture.className, '-q', this.#quality, '-o', video];
    const { warmFolder } = this.#options;
    if (warmFolder !== null) args.push('--keep-warm', `${WARM_MINUTES}`);
    const wallMs = await this.#timed(process.execPath, [SCENEPRESS, ...args], {
      XDG_CACHE_HOME: this.#path('cache'),
      ...(warmFolder !== null && { XDG_RUNTIME_DIR: warmFolder }),
    });
    return { wallMs, video };
  }

  get #file(): string {
    return join(this.#path('lecture'), `${this.#lecture.name}.py`);
  }

  #path(name: 'lecture' | 'media' | 'cache' | 'videos' | 'warm-media' | 'warm-cache'): string {
    return join(this.#folder, name);
  }

  async #timed(command: string, args: string[], environment: Record<string, string> = {}): Promise<number> {
    const beganMs = performance.now();
    await promisify(execFile)(command, args, {
      cwd: this.#path('lecture'),
      env: { ...process.env, ...environment },
      maxBuffer: MOST_OUTPUT_BYTES,
      signal: this.#options.stop,
    }).catch((error: Error & { stderr?: string }) => {
      const last = error.stderr?.trim().split('\n').slice(-3).join(' ');
      throw new Error(last || error.message, { cause: error });
    });
    return performance.now() - beganMs;
  }
}

const COPY = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true };
