import { createHash } from 'node:crypto';
import { ScenepressError } from '../../base/errors.ts';
import { known, type Names } from '../../base/known-options.ts';
import { isStorableText } from '../../base/storable-text.ts';
import { newOwner } from '../../model/owner.ts';
import type { GivenFiles } from '../../model/owner-file.ts';
import { parseRenderRequest, type ValidRenderRequest } from '../../model/render-request.ts';
import type { EnqueueRequest } from '../../model/requests.ts';
import type { VersionRecord } from '../../model/scene.ts';
import type { TraceContext } from '../../model/trace-context.ts';
import { filesOfRequest, type JobFiles } from '../../owner-files/file-sets.ts';
import { validTraceContext } from '../../tracing/trace-context.ts';
import { type Labels, labelsOf } from './labels.ts';

/** The most bytes of an id: Postgres refuses longer values in indexes. */
const LONGEST_BYTES = 1_024;
const RULE = 'of well-formed Unicode without NUL';

const NAMES: Names<EnqueueRequest> = {
  owner: true,
  className: true,
  code: true,
  quality: true,
  aspectRatio: true,
  fps: true,
  metadata: true,
  metadataJson: true,
  webhookUrl: true,
  webhook: true,
  keyId: true,
  idempotency: true,
  earlierJobId: true,
  title: true,
  tags: true,
  project: true,
  seed: true,
  params: true,
  audio: true,
  formats: true,
  fromPlay: true,
  toPlay: true,
  poster: true,
  stills: true,
  files: true,
  traceContext: true,
};

/** The data of a new job. */
export interface NewJob extends Labels, JobFiles {
  owner: string;
  request: ValidRenderRequest;
  metadataJson: string | null;
  webhookUrl: string | null;
  keyId: string | null;
  /** Its files, if some of them are contents that have not been received. */
  given?: GivenFiles;
  /** A signing secret for its webhook, used instead of the key's. */
  webhookSecret?: string;
  /** Identifies repetitions of the same request. */
  idempotency?: { key: string; fingerprint: string } | null;
  /** The job from whose video equal frames are copied. */
  earlierJobId?: string | undefined;
  /** The trace that it belongs to. */
  traceContext?: TraceContext | undefined;
  /** The scene that it becomes a version of, and the draft that it renders. */
  scene?: Pick<VersionRecord, 'sceneId' | 'revision'>;
}

/** Equal for equal requests. */
export function fingerprintOf({
  traceContext: _,
  ...newJob
}: Omit<NewJob, 'idempotency' | 'webhookSecret' | 'earlierJobId' | 'given' | 'scene'>): string {
  return createHash('sha256').update(JSON.stringify(newJob)).digest('hex');
}

/** Validates a request of `enqueue`. Error: `invalid_request` for the first violated rule. */
export function newJobOf(enqueued: EnqueueRequest): NewJob {
  const {
    owner,
    keyId,
    metadataJson,
    metadata,
    idempotency,
    webhook,
    earlierJobId,
    title,
    tags,
    project,
    seed,
    params,
    audio,
    formats,
    fromPlay,
    toPlay,
    poster,
    stills,
    files,
    traceContext,
    ...fields
  } = known('enqueue', enqueued, NAMES);
  newOwner(owner);
  if (keyId !== undefined && keyId !== null && !isStorableText(keyId, LONGEST_BYTES))
    throw invalid(`keyId is a string ${RULE}, at most ${LONGEST_BYTES} bytes, or null`);
  if (webhook) known('webhook', webhook, { url: true, secret: true });
  if (idempotency) known('idempotency', idempotency, { key: true, fingerprint: true });
  const request = parseRenderRequest(webhook ? { ...fields, webhookUrl: webhook.url } : fields);
  if (webhook && (typeof webhook.secret !== 'string' || webhook.secret === ''))
    throw invalid('webhook.secret is a non-empty string');
  if (traceContext) known('traceContext', traceContext, { traceparent: true, tracestate: true });
  const { files: named, given } = filesOfRequest(files);
  const newJob = {
    owner,
    request,
    ...labelsOf({ title, tags, project, seed, params, audio, formats, fromPlay, toPlay, poster, stills }),
    ...(named && { files: named }),
    metadataJson: metadataText(metadataJson, metadata),
    webhookUrl: request.webhookUrl ?? null,
    keyId: keyId ?? null,
  };
  if (idempotency && (typeof idempotency.key !== 'string' || idempotency.key === ''))
    throw invalid('idempotency.key is a non-empty string');
  const fingerprint = idempotency?.fingerprint ?? undefined;
  if (fingerprint !== undefined && !isStorableText(fingerprint))
    throw invalid(`idempotency.fingerprint is a string ${RULE}`);
  if (earlierJobId !== undefined && !isStorableText(earlierJobId, LONGEST_BYTES))
    throw invalid(`earlierJobId is a string ${RULE}, at most ${LONGEST_BYTES} bytes`);
  return {
    ...newJob,
    ...(given && { given }),
    earlierJobId,
    traceContext: traceContext && validTraceContext(traceContext),
    ...(webhook && newJob.webhookUrl !== null && { webhookSecret: webhook.secret }),
    idempotency: idempotency
      ? { key: idempotency.key, fingerprint: fingerprint ?? fingerprintOf(newJob) }
      : null,
  };
}

/** The metadata as JSON text. A text that is not JSON would make every response about the job invalid. */
function metadataText(json: string | null | undefined, value: unknown): string | null {
  if (json === null) return null;
  try {
    if (json === undefined) return JSON.stringify(value) ?? null;
    JSON.parse(json);
    return json;
  } catch (cause) {
    const [name, rule] = json === undefined ? ['metadata', 'a JSON value'] : ['metadataJson', 'JSON text'];
    throw new ScenepressError('invalid_request', `${name} must be ${rule}`, { cause });
  }
}

function invalid(message: string): ScenepressError {
  return new ScenepressError('invalid_request', message);
}
