import { type Context, trace } from '@opentelemetry/api';
import type { FailedBy } from '../model/failures.ts';
import type { JobOutcome, JobRecord } from '../model/job.ts';
import type { RenderResult, RenderStage, RenderUsage } from '../model/render-task.ts';
import type { Clock } from '../time/clock.ts';
import { jobAttributes, messagingAttributes, recordWaiting } from './job-spans.ts';
import { beginSpan, endSpan, markFault, recordSpan, type Span, SpanKind } from './spans.ts';
import { contextOf } from './trace-context.ts';

/** In their order. */
const STAGES: readonly RenderStage[] = ['loading', 'rendering', 'finishing'];
/** Results for which the service is at fault. */
const FAULTS: readonly RenderResult['kind'][] = ['died', 'interrupted', 'unavailable', 'disk_full'];

/** How an attempt ended, as the attempt describes it. */
interface End {
  next: 'finish' | 'count' | 'wait' | 'leave' | 'nothing';
  outcome?: JobOutcome;
  failedBy?: FailedBy;
}

/**
 * The spans of an attempt at a job: that it has waited; `render jobs`, from its claim until its artifacts are stored; and
 * in this, the phases of the render.
 */
export class AttemptSpans {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #span: Span;
  readonly #inside: Context;
  #startedMs: number | undefined;
  #result: { kind: RenderResult['kind']; atMs: number } | undefined;

  /** `job`: as it was claimed. */
  constructor(job: JobRecord, clock: Clock) {
    this.#clock = clock;
    this.#startMs = job.startedAtMs ?? clock.now();
    recordWaiting(job, this.#startMs);
    const parent = contextOf(job.traceContext);
    this.#span = beginSpan('render jobs', { parent, startMs: this.#startMs, kind: SpanKind.CONSUMER });
    this.#inside = trace.setSpan(parent, this.#span);
    if (!this.#span.isRecording()) return;
    this.#span.setAttributes({
      ...messagingAttributes({ type: 'process', name: 'render' }),
      'messaging.message.id': job.jobId,
      ...jobAttributes(job),
      'scenepress.job.attempt': job.attempts,
    });
  }

  /** Call it when the renderer has begun. */
  started(): void {
    this.#startedMs = this.#clock.now();
    recordSpan('render.prepare', { parent: this.#inside, startMs: this.#startMs, endMs: this.#startedMs });
  }

  /** Call it with the result of the renderer. */
  rendered(result: RenderResult): void {
    this.#result = { kind: result.kind, atMs: this.#clock.now() };
    if (!this.#span.isRecording()) return;
    this.#span.setAttribute('scenepress.render.result', result.kind);
    if (result.kind === 'rendered') this.#span.setAttribute('scenepress.render.frames', result.frames);
    if ('usage' in result && result.usage) this.#recordUsage(result.usage, this.#result.atMs);
  }

  /** Call it when the attempt has been decided, before that is committed. */
  ended({ next, outcome, failedBy = 'service' }: End): void {
    const endMs = this.#clock.now();
    const { kind, atMs } = this.#result ?? {};
    if (kind === 'rendered' && atMs !== undefined)
      recordSpan('render.store', { parent: this.#inside, startMs: atMs, endMs });
    const failure = outcome?.kind === 'failed' ? (outcome.failedBy ?? 'service') : undefined;
    const cause = next === 'count' ? failedBy : failure;
    if (cause) this.#span.setAttribute('scenepress.job.failed_by', cause);
    if (kind && FAULTS.includes(kind)) markFault(this.#span, kind);
    else if (cause === 'service' || (kind === 'rendered' && next === 'wait'))
      markFault(this.#span, 'service');
    endSpan(this.#span, { startMs: this.#startMs, endMs });
  }

  #recordUsage({ stagesMs, workMs, peakMemoryBytes, copiedFrames }: RenderUsage, endMs: number): void {
    let startMs = this.#startedMs ?? this.#startMs;
    for (const stage of STAGES) {
      const stageMs = stagesMs[stage];
      if (stageMs === undefined) continue;
      const untilMs = Math.min(startMs + stageMs, endMs);
      recordSpan(`render.${stage}`, {
        parent: this.#inside,
        startMs: Math.min(startMs, untilMs),
        endMs: untilMs,
      });
      startMs = untilMs;
    }
    for (const [work, ms] of Object.entries(workMs ?? {}))
      this.#span.setAttribute(`scenepress.render.work.${work}_ms`, ms);
    this.#span.setAttribute('scenepress.render.copied_frames', copiedFrames);
    if (peakMemoryBytes !== null)
      this.#span.setAttribute('scenepress.render.peak_memory_bytes', peakMemoryBytes);
  }
}
