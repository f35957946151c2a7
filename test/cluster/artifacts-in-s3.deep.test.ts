import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Config } from '../../appliance/config/config.ts';
import type { S3Credentials } from '../../lib/assets/s3/index.ts';
import { listeningAppliance } from '../appliance/listening-appliance.ts';
import { noS3Server, s3Server } from '../fixtures/s3-server/s3-server.ts';
import { cluster, enqueue, newKey, until } from './machines.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');

async function bucket(t: Test) {
  const { options } = await s3Server(t);
  const { bucket: s3Bucket, endpoint: s3Endpoint } = options;
  const { accessKeyId, secretAccessKey } = options.credentials as S3Credentials;
  return {
    s3Bucket,
    s3Endpoint,
    s3AccessKeyId: accessKeyId,
    s3SecretAccessKey: secretAccessKey,
  } as Partial<Config>;
}

t.test('links of a bucket', { skip: noS3Server }, async (t) => {
  const s3 = await bucket(t);

  async function rendered(t: Test, config: Partial<Config>) {
    const s3Prefix = `${config.s3Links}/`;
    const appliance = await listeningAppliance(t, { ...s3, s3Prefix, ...config, python: INSTANT_PYTHON });
    const { jobId } = (await appliance.post({ className: 'A', code: 'x' })).json as { jobId: string };
    await appliance.service.wait(jobId);
    const { json } = await appliance.askAs(appliance.key, `/api/v2/render/${jobId}`);
    const { video } = json['result'] as { video: string };
    return { ...appliance, jobId, video };
  }

  t.test('service: the bucket stays private', async (t) => {
    const { ask, jobId, url, video } = await rendered(t, { s3Links: 'service' });
    t.equal(video, `${url}/artifacts/${jobId}/video.mp4`);
    t.match(await ask(`/artifacts/${jobId}/video.mp4`), { status: 200, text: 'a video' });
  });

  t.test('presigned: the service redirects', async (t) => {
    const { ask, jobId, url, video } = await rendered(t, { s3Links: 'presigned' });
    t.equal(video, `${url}/artifacts/${jobId}/video.mp4`);
    const { status, headers } = await ask(`/artifacts/${jobId}/video.mp4`);
    t.equal(status, 307);
    t.match(
      headers.location,
      new RegExp(`^${s3.s3Endpoint}/renders/presigned/${jobId}-1/video\\.mp4\\?.*X-Amz-Signature=`),
    );
    t.equal(await (await fetch(String(headers.location))).text(), 'a video');
    const page = await ask('/dashboard/sign-in');
    t.match(
      page.headers['content-security-policy'],
      `media-src 'self' ${s3.s3Endpoint}`,
      'pages may show it',
    );
  });

  t.test('public: links lead to the bucket', async (t) => {
    const { jobId, video } = await rendered(t, {
      s3Links: 'public',
      s3PublicUrl: 'https://cdn.example.org/a',
    });
    t.equal(video, `https://cdn.example.org/a/public/${jobId}-1/video.mp4`);
  });
});

t.test('a worker puts artifacts where the server finds them', { skip: noS3Server }, async (t) => {
  const s3 = await bucket(t);
  const { env, ...machines } = await cluster(t);
  const more = {
    SCENEPRESS_ARTIFACT_DIR: '',
    SCENEPRESS_S3_BUCKET: String(s3.s3Bucket),
    SCENEPRESS_S3_ENDPOINT: String(s3.s3Endpoint),
    SCENEPRESS_S3_ACCESS_KEY_ID: String(s3.s3AccessKeyId),
    SCENEPRESS_S3_SECRET_ACCESS_KEY: String(s3.s3SecretAccessKey),
  };
  const server = await machines.start('serve', ['--roles', 'api'], more);
  await machines.start('worker', [], more);
  const key = await newKey({ env, ...machines });
  const jobId = await enqueue(server, key, 'x');
  const video = await until(async () => {
    const answer = await server.get(`/artifacts/${jobId}/video.mp4`);
    return answer.status === 200 && answer.text();
  });
  t.equal(video, 'a video');
  const refused = await machines.run(['job', 'forget', jobId], { SCENEPRESS_ARTIFACT_DIR: '' });
  t.match(refused, { code: 1, stderr: /needs the artifacts: set --s3-bucket/ });
  const forgotten = await machines.run(['job', 'forget', jobId], more);
  t.equal(forgotten.code, 0, forgotten.stderr);
  t.equal((await server.get(`/artifacts/${jobId}/video.mp4`)).status, 410);
});
