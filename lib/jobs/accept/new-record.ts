import { othersOf } from '../../model/formats.ts';
import type { JobRecord } from '../../model/job.ts';
import { QUALITIES } from '../../model/qualities.ts';
import type { NewJob } from './new-job.ts';

/** The record of a new job, `queued`, without its webhook secret. */
export function recordOf(
  {
    owner,
    request,
    title,
    tags,
    project,
    seed,
    params,
    audio,
    formats,
    selection,
    metadataJson,
    webhookUrl,
    keyId,
    traceContext,
  }: NewJob,
  { jobId, reserveCredits, createdAtMs }: Pick<JobRecord, 'jobId' | 'reserveCredits' | 'createdAtMs'>,
): JobRecord {
  return {
    jobId,
    owner,
    phase: 'queued',
    className: request.className,
    quality: request.quality,
    aspectRatio: request.aspectRatio,
    fps: request.fps ?? QUALITIES[request.quality].fps,
    title: title ?? null,
    tags: tags ? [...tags] : null,
    seed: seed ?? null,
    formats: othersOrNull(formats),
    metadataJson,
    webhookUrl,
    keyId,
    reserveCredits,
    attempts: 0,
    createdAtMs,
    startedAtMs: null,
    completedAtMs: null,
    durationMs: null,
    creditsCost: 0,
    usage: null,
    outcome: null,
    artifacts: [],
    error: null,
    diagnosis: null,
    traceContext: traceContext ?? null,
    params: params ?? null,
    selection: selection ?? null,
    audio: audio ? [...audio] : null,
    starred: null,
    project: project ?? null,
    captions: null,
  };
}

function othersOrNull(formats: NewJob['formats']): JobRecord['formats'] {
  const others = othersOf(formats);
  return others.length > 0 ? others : null;
}
