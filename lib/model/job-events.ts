import type { EventEmitter } from 'node:events';
import type { JobRecord } from './job.ts';
import type { RenderProgress } from './render-task.ts';

/** Internal events about jobs. */
export type JobEvents = EventEmitter<{
  /** A job was created, or its record changed. */
  change: [job: JobRecord];
  /** A running job made progress. */
  progress: [jobId: string, progress: RenderProgress];
  /** A small JPEG of the frame being drawn. */
  preview: [jobId: string, jpeg: Buffer];
}>;
