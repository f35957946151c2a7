import type { EventEmitter } from 'node:events';
import type { RenderProgress } from '../render/run/render-task.ts';
import type { JobRecord } from './job.ts';

/** What the parts of a service tell about jobs. */
export type JobEvents = EventEmitter<{
  /** A job was made, or its record changed. */
  change: [job: JobRecord];
  /** A running job got further. */
  progress: [jobId: string, progress: RenderProgress];
  /** A small JPEG of the frame being drawn. */
  preview: [jobId: string, jpeg: Buffer];
}>;
