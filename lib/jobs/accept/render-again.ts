import { ScenepressError } from '../../base/errors.ts';
import type { JobRecord } from '../../model/job.ts';
import type { Storage } from '../../storage/storage.ts';
import type { NewJob } from './new-job.ts';

/** A copy of an earlier job, whose source may have been removed: then the error is `not_found`. */
export async function copyOf(
  { jobId, owner, className, quality, aspectRatio, fps, ...earlier }: JobRecord,
  {
    storage,
    webhooks,
  }: {
    storage: Pick<Storage, 'readSource'>;
    webhooks: { secrets: { decrypt(sealed: string): Promise<string> } };
  },
): Promise<NewJob> {
  const code = await storage.readSource(jobId);
  if (code === undefined) throw new ScenepressError('not_found', 'The source of this job has been removed.');
  const { title, tags, seed, metadataJson, webhookUrl, keyId, webhookSecretSealed: sealed } = earlier;
  return {
    owner,
    request: { code, className, quality, aspectRatio, fps },
    ...(title !== null && { title }),
    ...(tags !== null && { tags }),
    ...(seed !== null && { seed }),
    metadataJson,
    webhookUrl,
    keyId,
    earlierJobId: jobId,
    ...(sealed !== undefined && { webhookSecret: await webhooks.secrets.decrypt(sealed) }),
  };
}
