import type { Quality } from '../../lib/index.ts';
import {
  DEFAULT_BUDGETS,
  DEFAULT_FILES,
  DEFAULT_LIMITS,
  DEFAULT_PRICING,
  DEFAULT_SCENES,
  QUALITY_NAMES,
} from '../../lib/internal.ts';

const MIB = 1024 * 1024;

/** Credits, the queue, and the shares of accounts. */
export const JOB_OPTIONS = {
  creditsMode: {
    description: 'Whether renders cost credits',
    type: 'choice',
    of: ['metered', 'unmetered'],
    default: 'metered',
    commands: ['worker', 'administration'],
  },
  freeCredits: {
    description: 'Free credits per account and month',
    type: 'count',
    min: 0,
    unit: 'credits',
    default: 1000,
    commands: ['worker', 'administration'],
  },
  creditsPerSecond: {
    description: `Credits per second of rendering for the qualities ${QUALITY_NAMES.join(', ')}` as string,
    type: 'prices',
    default: DEFAULT_PRICING.creditsPerSecond as Record<Quality, number>,
  },
  reserveSeconds: {
    description: 'Seconds of rendering that the balance must cover before a scene is enqueued',
    type: 'positive',
    unit: 'seconds',
    default: DEFAULT_PRICING.reserveSeconds as number,
  },
  workers: {
    description: 'Number of scenes rendered concurrently',
    type: 'count',
    otherwise: 'the number of CPUs',
  },
  incremental: {
    description: 'Whether a render copies the frames that are equal in the last video of its scene',
    type: 'boolean',
    default: true,
  },
  maxQueued: {
    description:
      'Maximum number of queued jobs; beyond it, requests are answered with 503, apart from those of an account with less than an equal share',
    type: 'count',
    default: 10_000,
  },
  maxQueuedPerAccount: {
    description: 'Maximum number of queued jobs per account; beyond it, requests are answered with 503',
    type: 'count',
    default: 1_000,
  },
  maxStoredGbPerAccount: {
    description:
      'Maximum size of the sources, metadata and artifacts of an account; beyond it, requests are answered with 429 until jobs are forgotten; 0 for no limit',
    type: 'amount',
    unit: 'GiB',
    default: (DEFAULT_BUDGETS.storedBytes / 1024 ** 3) as number,
  },
  maxJobsPerSecondPerAccount: {
    description:
      "Maximum number of jobs that an account adds per second on average, ten seconds' worth at once, counted by each server; beyond it, requests are answered with 429; 0 for no limit",
    type: 'amount',
    default: 20,
  },
  maxRequestsPerSecondPerKey: {
    description:
      "Maximum number of requests with one API key per second on average, ten seconds' worth at once, counted by each server; beyond it, they are answered with 429; 0 for no limit",
    type: 'amount',
    default: 0,
  },
  maxFilesPerAccount: {
    description: 'Maximum number of [files](tools-api.md#files) that an account keeps; 0 for none',
    type: 'count',
    min: 0,
    default: DEFAULT_FILES.mostFiles as number,
  },
  maxFilesGbPerAccount: {
    description: 'Maximum size of all files of an account',
    type: 'amount',
    unit: 'GiB',
    default: (DEFAULT_FILES.mostBytes / 1024 ** 3) as number,
  },
  maxFileMb: {
    description: 'Maximum size of a file of an account',
    type: 'amount',
    unit: 'MiB',
    default: (DEFAULT_FILES.largestBytes / 1024 ** 2) as number,
  },
  maxScenesPerAccount: {
    description: 'Maximum number of [scenes](tools-api.md#scenes) that an account keeps; 0 for none',
    type: 'count',
    min: 0,
    default: DEFAULT_SCENES.mostScenes as number,
  },
  maxScenesMbPerAccount: {
    description: 'Maximum size of all drafts of the scenes of an account',
    type: 'amount',
    unit: 'MiB',
    default: (DEFAULT_SCENES.mostBytes / MIB) as number,
  },
  fileCacheGb: {
    description: 'Maximum size of the files of accounts that a worker keeps for further renders',
    type: 'amount',
    unit: 'GiB',
    default: (DEFAULT_FILES.cacheBytes / 1024 ** 3) as number,
    commands: ['worker'],
  },
  maxRunningPerAccount: {
    description:
      'Maximum number of scenes rendered concurrently per account; no running job is stopped for another',
    type: 'count',
    otherwise: 'one less than the workers of all machines if there are several enabled accounts',
  },
  reservedWorkers: {
    description:
      'Workers reserved for accounts whose renders of the last 24 hours mostly completed; at least one worker serves all accounts',
    type: 'count',
    min: 0,
    default: 1,
  },
  failuresPerHour: {
    description:
      'Maximum number of jobs per account and hour that fail because of their scenes; beyond it, requests are answered with 429; 0 for no limit',
    type: 'count',
    min: 0,
    default: DEFAULT_BUDGETS.failuresPerHour as number,
  },
  unpaidSecondsPerHour: {
    description:
      'Maximum render seconds per account and hour that fail, are canceled (a second at least) or run out of credits; beyond it, requests are answered with 429; 0 for no limit',
    type: 'count',
    min: 0,
    unit: 'seconds',
    default: DEFAULT_BUDGETS.unpaidSecondsPerHour as number,
  },
  checkSecondsPerHour: {
    description:
      'Maximum seconds per account and hour of checks and of listings of scenes; beyond it, the playground shows no findings, and finds scenes by their text; 0 for no limit',
    type: 'count',
    min: 0,
    unit: 'seconds',
    default: DEFAULT_BUDGETS.checkSecondsPerHour as number,
  },
} as const;

/** The renderer and the limits of a render. */
export const RENDER_OPTIONS = {
  python: {
    description: 'Python interpreter of a virtual environment (venv) with Manim',
    type: 'file',
    otherwise: 'the one installed by `scenepress setup`',
  },
  rendererDir: {
    description:
      'Folder into which the [single executable](README.md#the-single-executable) unpacks its renderer; of an installed package, where [set-up](../lib/README.md#the-python-side) puts it',
    type: 'folder',
    mayBeMissing: true,
    otherwise: 'renderer in the data folder; the user cache when there is no data folder',
  },
  studioDir: {
    description: 'Folder with fonts/, python/, assets/ and texmf/, readable by every scene',
    type: 'folder',
    otherwise: 'the data folder; none with a database or without a server',
  },
  insecureNoSandbox: {
    description: 'Render even if no effective [sandbox](../renderer/README.md#levels) isolates scene code',
    type: 'switch',
    default: false,
  },
  check: {
    description:
      'Whether code is also read for [checks without a run](cli.md#checking-scenes), by a process of its own',
    type: 'choice',
    of: ['on', 'off'],
    default: 'on',
  },
  renderTimeoutSeconds: {
    description: 'Maximum duration of a render',
    type: 'count',
    max: 2_147_483,
    unit: 'seconds',
    default: (DEFAULT_LIMITS.timeoutMs / 1000) as number,
  },
  renderMemoryMb: {
    description: 'Maximum memory of the processes of a render, and of its files if these are in memory',
    type: 'count',
    min: 256,
    unit: 'MiB',
    default: (DEFAULT_LIMITS.memoryBytes / MIB) as number,
  },
  renderProcesses: {
    description: 'Maximum number of processes and threads of a render',
    type: 'count',
    min: 8,
    default: DEFAULT_LIMITS.processes as number,
  },
  renderFileMb: {
    description: 'Maximum size of a file written by a render',
    type: 'count',
    unit: 'MiB',
    default: (DEFAULT_LIMITS.fileSizeBytes / MIB) as number,
  },
  renderDiskMb: {
    description: 'Maximum disk usage of a render',
    type: 'count',
    unit: 'MiB',
    default: (DEFAULT_LIMITS.diskBytes / MIB) as number,
  },
  renderFiles: {
    description: 'Maximum number of files of a render',
    type: 'count',
    default: DEFAULT_LIMITS.files as number,
  },
  renderOutputMb: {
    description: 'Maximum size of a video',
    type: 'count',
    unit: 'MiB',
    default: (DEFAULT_LIMITS.outputBytes / MIB) as number,
  },
  renderFrames: {
    description: 'Maximum number of frames of a video',
    type: 'count',
    default: DEFAULT_LIMITS.frames as number,
  },
} as const;
