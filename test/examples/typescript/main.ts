import { httpStatusOf, type Job, type RenderService } from 'scenepress';
import type { EndedJob, ScenepressClient } from 'scenepress/client';
import { type PostgresStorage, postgres } from 'scenepress/postgres';
import { type S3AssetStore, s3 } from 'scenepress/s3';
import { ledgerSuite } from 'scenepress/testing';
import { webHandler } from 'scenepress/web';
import { verifyWebhook } from 'scenepress/webhooks';

export async function render(service: RenderService, code: string): Promise<string | undefined> {
  try {
    const { jobId } = await service.enqueue({ owner: 'me', className: 'Hello', quality: 'low', code });
    for await (const event of service.follow(jobId)) {
      if (event.type === 'progress') console.log(event.progress.seconds);
      if (event.type === 'preview') console.log(event.jpeg.byteLength);
    }
    const opened = await service.openArtifact(jobId, 'video.mp4', {
      owner: 'me',
      range: { start: 0, end: 9 },
    });
    return opened.contentType;
  } catch (error) {
    console.log(httpStatusOf(error));
    return undefined;
  }
}

export function serve(service: RenderService): (request: Request) => Promise<Response> {
  service.on('job', (job: Job) => console.log(job.status, job.metadata));
  return webHandler({ service, authenticate: () => null, assetUrl: 'https://example.org' });
}

export async function remote(client: ScenepressClient): Promise<string> {
  const job: EndedJob = await client.render({ className: 'Hello', code: '' });
  return job.status === 'completed' ? job.result.video : job.error;
}

export const storage: PostgresStorage = postgres('postgres://localhost/studio', {
  tls: true,
  maxConnections: 4,
});
export const assets: S3AssetStore = s3({ bucket: 'renders', region: 'eu-central-1' });

export async function link(assetKey: string): Promise<string> {
  const { current } = await storage.masterKey.load({ given: '' });
  return `${await assets.presign(assetKey)}#${current.id}`;
}

export const suites: string[] = ledgerSuite(async () => Promise.reject(new Error('no ledger'))).map(
  ({ title }) => title,
);
export const isValid: boolean = verifyWebhook('{}', null, 'whsec_x').valid;
