import type { AspectRatio, Quality } from '../../lib/index.ts';
import { isScenepressError, type SceneFolder } from '../../lib/internal.ts';
import { flagOf } from '../config/options.ts';
import { interruptible } from '../runtime/interruptible.ts';
import { UserError } from '../support/user-error.ts';
import { configOf } from './config-flags.ts';
import { readManimConfig } from './manim-config.ts';
import { RENDERER_FLAGS, withOwnRenderer } from './own-renderer.ts';
import { type ParamFlags, paramsOfFlags } from './param-flags.ts';
import { ProgressLine } from './progress-line.ts';
import type { AsksAboutScenes, Question } from './remote-scenes.ts';
import { RemoteService } from './remote-service.ts';
import { folderOf, manimConfigFor, readCode } from './render-request.ts';
import { refuseWithServer, type Server, type ServerFlags, serverOf } from './server-flags.ts';
import { whyWithheld } from './withheld-folder.ts';

/** Options of `check` and `inspect`. */
export interface CheckFlags extends ServerFlags, ParamFlags, Record<string, unknown> {
  quality?: Quality;
  aspect: AspectRatio;
  frame_rate?: number;
  folder?: string | boolean;
  /** Minutes. */
  keepWarm?: number;
  json?: boolean;
  run: boolean;
}

/** The file that is asked about, and which files its scenes could read. */
export interface Place {
  file: string;
  folder: SceneFolder | null;
  withheld: string | null;
  server: Server | undefined;
}

/** What is asked about a file. */
export interface Asked {
  code: Uint8Array;
  question: Question;
  place: Place;
  /** Removes the progress line, before anything is printed. */
  done: () => void;
}

type Work = (asks: AsksAboutScenes, asked: Asked) => Promise<void>;

/** Contact sheets have at most 200 kB. */
const MOST_PICTURE_BYTES = 2 * 1024 * 1024;
/** Scenes are run before the answer begins; `fetch` waits no longer than five minutes. */
const ANSWER_MS = 290_000;

/** Calls `work` with what answers, and the file. Failures of either end the program with exit code 2. */
export async function askAboutScenes(
  file: string,
  className: string | undefined,
  flags: CheckFlags,
  work: Work,
): Promise<void> {
  const { quality = 'medium', aspect: aspectRatio, frame_rate: fps } = flags;
  const question = {
    ...(className !== undefined && { className }),
    ...{ quality, aspectRatio },
    ...(fps !== undefined && { fps }),
    ...paramsOfFlags(flags),
  };
  const server = serverOf(flags);
  const asking = server
    ? askService(server, file, flags, question, work)
    : askOwnRenderer(file, flags, question, work);
  await asking.catch((error: unknown) => {
    if (!isScenepressError(error) && !(error instanceof UserError)) throw error;
    const exitCode = error instanceof UserError && error.exitCode !== 1 ? error.exitCode : 2;
    throw new UserError(error.message, { exitCode, cause: error });
  });
}

async function askService(
  server: Server,
  file: string,
  flags: CheckFlags,
  question: Question,
  work: Work,
): Promise<void> {
  refuseWithServer({
    '--folder': typeof flags.folder === 'string' ? flags.folder : undefined,
    ...Object.fromEntries([...RENDERER_FLAGS, 'keepWarm'].map((name) => [flagOf(name), flags[name]])),
  });
  manimConfigFor(server, {});
  const code = await readCode(file);
  // Slow to load, and needed by no other call.
  const { RemoteScenes } = await import('./remote-scenes.ts');
  const remote = new RemoteScenes(
    new RemoteService(server, { mostBytes: MOST_PICTURE_BYTES, timeoutMs: ANSWER_MS }),
  );
  const place = { file, folder: null, withheld: null, server };
  const progress = new ProgressLine('Asking the service');
  await interruptible(async (signal) => {
    progress.start();
    const asked = { code, question: { ...question, signal }, place, done: () => end(progress) };
    await work(remote, asked).finally(() => progress.stop());
  });
}

async function askOwnRenderer(
  file: string,
  flags: CheckFlags,
  question: Question,
  work: Work,
): Promise<void> {
  const { keepWarm } = flags;
  const { quality: _, run: __, ...options } = flags;
  const config = configOf(options);
  const found = folderOf(file, flags);
  const withheld = found && typeof flags.folder !== 'string' ? whyWithheld(found.path, config) : null;
  const folder = withheld === null ? found : null;
  const code = await readCode(file);
  const progress = new ProgressLine();
  await withOwnRenderer({ folder, config, workers: 1, keepWarm, progress }, async (renderer, signal) => {
    progress.start();
    const asked = {
      code,
      question: { ...question, config: settingsFor(flags), signal },
      place: { file, folder, withheld, server: undefined },
      done: () => end(progress),
    };
    await work(renderer, asked).finally(() => progress.stop());
  });
}

function end(progress: ProgressLine): void {
  progress.stop();
  progress.clear();
}

/** Those of a manim.cfg that scenes see. */
function settingsFor({ quality }: CheckFlags): Record<string, string> {
  const { settings } = readManimConfig(undefined);
  // The units of the frame belong to the size of the configuration.
  if (quality !== undefined) delete settings['frame_width'];
  return settings;
}
