import type { KnownFolder } from '../../files/disk.ts';
import type { RenderLimits } from '../../model/limits.ts';
import type { Pulses } from '../counters/pulse.ts';
import type { ThreadCounters } from '../counters/thread-counters.ts';
import type { Launcher } from '../start/launcher.ts';

/** The settings that all workers of a pool share. */
export interface SharedSettings {
  /** The number of workers. */
  workers: number;
  /** Counters shared by all threads. */
  threads: ThreadCounters;
  /** The ticks of the pool and of its threads. */
  pulses: Pulses;
  launcher: Launcher;
  limits: RenderLimits;
  /** The parent of the workers' folders. */
  workFolder: string;
  /** The data folder that contains it: without it, nothing is made at its path. */
  dataFolder?: KnownFolder | undefined;
}
