import type { EndedJob, ScenepressClient } from '../../lib/client/index.ts';
import type { RenderProgress } from '../../lib/index.ts';
import type { LocalRenderOptions, RenderStage } from '../../lib/internal.ts';
import { STAGES } from './progress-line.ts';

/** Resolves when the job has ended. */
export async function followJob(
  client: ScenepressClient,
  jobId: string,
  { signal, onProgress }: { signal: AbortSignal; onProgress: LocalRenderOptions['onProgress'] },
): Promise<EndedJob> {
  for await (const event of client.follow(jobId, { signal })) {
    if (event.type === 'progress') onProgress?.(progressOf(event.progress));
    if (event.type !== 'job') continue;
    if (event.job.status === 'running') onProgress?.({ stage: 'rendering', frames: 0, seconds: 0 });
    if (event.job.completedAt !== null) return event.job as EndedJob;
  }
  throw new Error('the service did not report the end of the job');
}

/** What a service reports, which may be anything. */
function progressOf({
  stage,
  frames,
  seconds,
}: {
  stage: unknown;
  frames: unknown;
  seconds: unknown;
}): RenderProgress {
  const isKnown = (text: unknown): text is RenderStage =>
    typeof text === 'string' && Object.hasOwn(STAGES, text);
  return {
    stage: isKnown(stage) ? stage : 'rendering',
    frames: Number(frames) || 0,
    seconds: Number(seconds) || 0,
  };
}
