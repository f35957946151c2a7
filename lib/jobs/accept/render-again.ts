import { ScenepressError } from '../../base/errors.ts';
import { known, type Names } from '../../base/known-options.ts';
import type { JobRecord } from '../../model/job.ts';
import { QUALITIES } from '../../model/qualities.ts';
import type { RenderAgainOptions } from '../../model/requests.ts';
import type { Storage } from '../../storage/storage.ts';
import { type NewJob, newJobOf } from './new-job.ts';

type Changes = NonNullable<RenderAgainOptions['changes']>;

export const RENDER_AGAIN: Names<RenderAgainOptions> = { owner: true, changes: true, idempotency: true };
const CHANGES: Names<Changes> = {
  className: true,
  code: true,
  quality: true,
  aspectRatio: true,
  fps: true,
  metadata: true,
  metadataJson: true,
  webhookUrl: true,
  keyId: true,
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

interface Parts {
  storage: Pick<Storage, 'readSource'>;
  webhooks: { secrets: { decrypt(sealed: string): Promise<string> } };
}

/**
 * A copy of an earlier job with `changes`. Errors: `not_found` when its source has been removed; `invalid_request` for the
 * changes.
 */
export async function copyOf(
  earlier: JobRecord,
  { storage, webhooks }: Parts,
  { changes = {}, idempotency }: Pick<RenderAgainOptions, 'changes' | 'idempotency'> = {},
): Promise<NewJob> {
  known('changes', changes, CHANGES);
  const {
    jobId,
    owner,
    className,
    quality,
    aspectRatio,
    title,
    tags,
    project,
    seed,
    params,
    audio,
    formats,
  } = earlier;
  const code = changes.code ?? (await storage.readSource(jobId));
  if (code === undefined) throw new ScenepressError('not_found', 'The source of this job has been removed.');
  const isOwnRate = earlier.fps === QUALITIES[quality].fps && changes.quality !== undefined;
  const copy = newJobOf({
    ...{ owner, code, className, quality, aspectRatio, earlierJobId: jobId },
    ...(!isOwnRate && { fps: earlier.fps }),
    ...(title !== null && { title }),
    ...(tags !== null && { tags }),
    ...(project !== null && { project }),
    ...(seed !== null && { seed }),
    ...(params !== null && { params }),
    ...(audio !== null && { audio }),
    ...(formats !== null && { formats: formats.filter((format) => format !== 'stills') }),
    ...earlier.selection,
    ...(!('metadata' in changes) && { metadataJson: earlier.metadataJson }),
    webhookUrl: earlier.webhookUrl,
    keyId: earlier.keyId,
    ...changes,
    ...(idempotency && { idempotency }),
  });
  // The earlier secret is for the earlier URL.
  const sealed = copy.webhookUrl === earlier.webhookUrl ? earlier.webhookSecretSealed : undefined;
  return {
    ...copy,
    ...(copy.files === undefined && copy.given === undefined && { filesOfJob: jobId }),
    ...(sealed !== undefined && { webhookSecret: await webhooks.secrets.decrypt(sealed) }),
  };
}
