import { type Attributes, context } from '@opentelemetry/api';
import type { JobRecord } from '../model/job.ts';
import type { TraceContext } from '../model/trace-context.ts';
import type { Clock } from '../time/clock.ts';
import { beginSpan, endSpan, markFault, noteError, recordSpan, SpanKind } from './spans.ts';
import { contextOf, traceContextOf } from './trace-context.ts';

interface Traced {
  traceContext?: TraceContext | undefined;
}

/** The attributes of spans of a job. */
export function jobAttributes({ jobId, quality }: JobRecord): Attributes {
  return { 'scenepress.job.id': jobId, 'scenepress.job.quality': quality };
}

/** The attributes of messages, which jobs are to their queue. */
export function messagingAttributes(operation: { type: 'send' | 'process'; name: string }): Attributes {
  return {
    'messaging.system': 'scenepress',
    'messaging.destination.name': 'jobs',
    'messaging.operation.type': operation.type,
    'messaging.operation.name': operation.name,
  };
}

/**
 * Accepts jobs together within the span `enqueue jobs`, a child of their trace context or of the active span, and the
 * parent of all that follows. `accept` is given the jobs with the context of that span.
 */
export async function tracedAcceptance<New extends Traced>(
  newJobs: readonly New[],
  clock: Clock,
  accept: (newJobs: readonly New[]) => Promise<JobRecord[]>,
): Promise<JobRecord[]> {
  const given = newJobs[0]?.traceContext;
  const startMs = clock.now();
  const span = beginSpan('enqueue jobs', {
    parent: given ? contextOf(given) : context.active(),
    startMs,
    kind: SpanKind.PRODUCER,
  });
  const traceContext = traceContextOf(span.spanContext());
  if (!traceContext) return accept(newJobs);
  try {
    const jobs = await accept(newJobs.map((newJob) => ({ ...newJob, traceContext })));
    if (span.isRecording()) span.setAttributes(attributesOf(jobs));
    return jobs;
  } catch (error) {
    noteError(span, error);
    throw error;
  } finally {
    endSpan(span, { startMs, endMs: clock.now() });
  }
}

function attributesOf(jobs: readonly JobRecord[]): Attributes {
  const attributes = messagingAttributes({ type: 'send', name: 'enqueue' });
  const [first] = jobs;
  if (jobs.length !== 1 || !first) return { ...attributes, 'messaging.batch.message_count': jobs.length };
  return { ...attributes, 'messaging.message.id': first.jobId, ...jobAttributes(first) };
}

/** Records that a job waited until a time. */
export function recordWaiting(job: JobRecord, endMs: number): void {
  const startMs = job.traceContext?.queuedAtMs ?? job.createdAtMs;
  recordSpan('job.wait', {
    parent: contextOf(job.traceContext),
    startMs: Math.min(startMs, endMs),
    endMs,
    attributes: jobAttributes(job),
  });
}

/** Records the commit that made a job terminal, which began at `startMs`. */
export function recordEnd(job: JobRecord, { startMs, endMs }: { startMs: number; endMs: number }): void {
  // Canceled before its first attempt.
  if (job.startedAtMs === null) recordWaiting(job, startMs);
  const { phase, failedBy } = job;
  const span = beginSpan('job.end', {
    parent: contextOf(job.traceContext),
    startMs,
    attributes: {
      ...jobAttributes(job),
      'scenepress.job.status': phase,
      ...(failedBy && { 'scenepress.job.failed_by': failedBy }),
    },
  });
  if (failedBy === 'service') markFault(span, failedBy);
  endSpan(span, { startMs, endMs });
}
