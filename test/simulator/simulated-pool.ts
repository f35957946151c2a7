import { join } from 'node:path';
import type { Random } from '../../lib/base/random.ts';
import type { Clock, Logger } from '../../lib/index.ts';
import { DEFAULT_LIMITS } from '../../lib/model/limits.ts';
import { Renderer } from '../../lib/render/pool/renderer.ts';
import type { Launcher } from '../../lib/render/start/launcher.ts';
import { SimulatedPython } from './simulated-python.ts';
import { SimulatedThreads } from './simulated-threads.ts';

const PACKAGE_FOLDER = join(import.meta.dirname, '../../renderer');
export const TIMEOUT_MS = 60_000;
/** Turns of the event loop in which messages between the pool and its threads arrive. */
export const PORT_TURNS = 3;

/** A renderer that is not there. */
export const LAUNCHER: Launcher = {
  tree: undefined,
  environment: undefined,
  python: '/usr/bin/python3',
  packageFolder: PACKAGE_FOLDER,
  studio: undefined,
  scene: undefined,
  firstUid: undefined,
  silenceTimeoutMs: 30_000,
  insecureNoSandbox: false,
  isolation: 'none',
  isolationProblem: 'this is a simulation',
  cgroups: { folder: undefined, problem: 'this is a simulation' },
};

export interface SimulatedPool {
  renderer: Renderer;
  python: SimulatedPython;
  /** Ends a thread; nothing happens while there are none. */
  crashThread(number: number): void;
}

/** The renderer of a service, of which only the threads and the Python side are simulated. */
export function simulatedPool({
  size,
  workFolder,
  seed,
  clock,
  random,
  logger,
}: {
  size: number;
  workFolder: string;
  seed: number;
  clock: Clock;
  random: Random;
  logger: Logger;
}): SimulatedPool {
  const python = new SimulatedPython({ clock, seed });
  let threads: SimulatedThreads | undefined;
  const renderer = new Renderer({
    renderer: {},
    studio: undefined,
    workers: size,
    limits: { ...DEFAULT_LIMITS, timeoutMs: TIMEOUT_MS },
    workFolder,
    probeAfterMs: undefined,
    clock,
    random,
    logger,
    spareSpace: undefined,
    simulated: {
      launcher: LAUNCHER,
      startThreads: (size, data) => {
        threads = SimulatedThreads.start(size, data, { clock, python });
        return threads.asPiscina;
      },
    },
  });
  return { renderer, python, crashThread: (number) => threads?.crash(number) };
}
