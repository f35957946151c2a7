import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ArtifactName } from '../../lib/index.ts';
import type { JobRecord } from '../../lib/model/job.ts';
import { type ListeningAppliance, VALID } from './listening-appliance.ts';

/** The plays of {@link completedJob}. */
const PLAYS = ['Create(Circle)', 'Wait()', 'Write(<b>)'].map((shows, at) => ({
  ...{ line: 1, shows, startSeconds: at * 2, seconds: 2 },
}));

/**
 * Completes a job of an owner, else of the key, of an appliance whose renders never begin, with these artifacts. Returns its
 * id.
 */
export async function completedJob(
  { post, installation, service }: Pick<ListeningAppliance, 'post' | 'installation' | 'service'>,
  { files = { 'video.mp4': 'video' }, title = null, owner }: CompletedJob = {},
): Promise<string> {
  const { storage, assets } = installation.place;
  const { jobId } = (
    owner === undefined ? (await post(VALID)).json : await service.enqueue({ ...VALID, owner })
  ) as { jobId: string };
  const folder = await mkdtemp(join(tmpdir(), 'artifacts-'));
  const artifacts: JobRecord['artifacts'] = [];
  for (const [name, content] of Object.entries(files) as [ArtifactName, string | Buffer][]) {
    const path = join(folder, name);
    await writeFile(path, content);
    const assetKey = `${jobId}/${name}`;
    const { sizeBytes } = await assets.put(assetKey, { path, contentType: 'video/mp4' });
    artifacts.push({ name, assetKey, sizeBytes });
  }
  await rm(folder, { recursive: true });
  await storage.transaction(async (tx) => {
    const job = await storage.getJob(jobId, tx);
    if (!job) throw new Error('the job was enqueued');
    const ended = { phase: 'completed' as const, completedAtMs: 1, durationMs: 1, creditsCost: 0 };
    await storage.putTrace(tx, jobId, { plays: PLAYS, output: '' });
    await storage.updateJob(tx, { ...job, ...ended, title, artifacts });
  });
  return jobId;
}

interface CompletedJob {
  files?: { [Name in ArtifactName]?: string | Buffer };
  title?: string | null;
  owner?: string;
}
