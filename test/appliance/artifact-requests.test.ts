import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { JobRecord } from '../../lib/model/job.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const VIDEO = Buffer.from(Array.from({ length: 1_000 }, (_, index) => index % 256));
const CAPTIONS = 'WEBVTT\n\n00:00.000 --> 00:01.000\nGrüße\n';

/** An appliance with a job whose video and captions exist and whose thumbnail has been removed. */
async function withArtifacts(t: Test) {
  const appliance = await listeningAppliance(t);
  const { storage, assets } = appliance.installation.place;
  const { jobId } = (await appliance.post(VALID)).json as { jobId: string };
  const source = join(await temporaryFolder(t), 'file');
  const artifacts: JobRecord['artifacts'] = [
    { name: 'thumbnail.jpg', assetKey: `${jobId}/thumbnail.jpg`, sizeBytes: 5 },
  ];
  for (const [name, content] of [
    ['video.mp4', VIDEO],
    ['captions.vtt', CAPTIONS],
    ['frames.zip', 'PK'],
  ] as const) {
    await writeFile(source, content);
    const { sizeBytes } = await assets.put(`${jobId}/${name}`, { path: source, contentType: 'video/mp4' });
    artifacts.push({ name, assetKey: `${jobId}/${name}`, sizeBytes });
  }
  await storage.transaction(async (tx) => {
    const job = await storage.getJob(jobId, tx);
    if (job) await storage.updateJob(tx, { ...job, artifacts });
  });
  return {
    ...appliance,
    jobId,
    video: `/artifacts/${jobId}/video.mp4`,
    captions: `/artifacts/${jobId}/captions.vtt`,
  };
}

t.test('an artifact has its content type, is cacheable forever and readable from any origin', async (t) => {
  const { ask, video, captions } = await withArtifacts(t);
  const { status, headers, bytes } = await ask(video);
  t.equal(status, 200);
  t.ok(bytes.equals(VIDEO));
  t.match(headers, {
    'content-type': 'video/mp4',
    'content-length': '1000',
    'accept-ranges': 'bytes',
    'cache-control': 'public, max-age=31536000, immutable',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    etag: /^".+"$/,
  });
  t.match(headers['access-control-expose-headers'], 'Content-Range');
  const text = await ask(captions, { headers: { 'accept-encoding': 'gzip' } });
  t.equal(text.headers['content-type'], 'text/vtt; charset=utf-8');
  t.equal(text.text, CAPTIONS);
  t.equal(headers['content-disposition'], undefined);
  const archive = await ask(video.replace('video.mp4', 'frames.zip'));
  t.match(archive.headers, {
    'content-type': 'application/zip',
    'content-disposition': 'attachment; filename="frames.zip"',
  });
});

t.test('a damaged artifact is not served', async (t) => {
  const { ask, jobId, video, installation } = await withArtifacts(t);
  const source = join(await temporaryFolder(t), 'file');
  await writeFile(source, VIDEO.subarray(1));
  const { assets } = installation.place;
  await assets.put(`${jobId}/video.mp4`, { path: source, contentType: 'video/mp4' });
  for (const headers of [{}, { range: 'bytes=0-99' }]) {
    const { status, headers: answered } = await ask(video, { headers });
    t.equal(status, 503);
    t.equal(answered['cache-control'], undefined);
  }
});

t.test('a range request gets 206 with that part', async (t) => {
  const { ask, video } = await withArtifacts(t);
  const ranges: [string, number, number][] = [
    ['bytes=0-99', 0, 99],
    ['bytes=990-', 990, 999],
    ['bytes=-10', 990, 999],
    ['bytes=5-5', 5, 5],
    ['bytes=0-5000', 0, 999],
  ];
  for (const [range, start, end] of ranges) {
    const { status, headers, bytes } = await ask(video, { headers: { range } });
    t.equal(status, 206, range);
    t.equal(headers['content-range'], `bytes ${start}-${end}/1000`);
    t.equal(headers['content-length'], String(end - start + 1));
    t.ok(bytes.equals(VIDEO.subarray(start, end + 1)));
  }
});

t.test('a range beyond the end gets 416 with the size', async (t) => {
  const { ask, video } = await withArtifacts(t);
  const { status, headers, json } = await ask(video, { headers: { range: 'bytes=1000-' } });
  t.equal(status, 416);
  t.equal(headers['content-range'], 'bytes */1000');
  t.strictSame(Object.keys(json), ['error', 'message']);
});

t.test('If-Range with another ETag, or several ranges, gets the whole file', async (t) => {
  const { ask, video } = await withArtifacts(t);
  const { etag = '' } = (await ask(video)).headers;
  const status = async (headers: Record<string, string>) => (await ask(video, { headers })).status;
  t.equal(await status({ range: 'bytes=0-9', 'if-range': etag }), 206);
  t.equal(await status({ range: 'bytes=0-9', 'if-range': '"other"' }), 200);
  t.equal(await status({ range: 'bytes=0-9,20-29' }), 200);
});

t.test('If-None-Match with the current ETag gets 304', async (t) => {
  const { ask, video } = await withArtifacts(t);
  const { etag = '' } = (await ask(video)).headers;
  const { status, bytes } = await ask(video, { headers: { 'if-none-match': etag } });
  t.equal(status, 304);
  t.equal(bytes.length, 0);
});

t.test('HEAD gets the headers of GET and no body', async (t) => {
  const { ask, video } = await withArtifacts(t);
  const { status, headers, bytes } = await ask(video, { method: 'HEAD' });
  t.equal(status, 200);
  t.match(headers, { 'content-type': 'video/mp4', 'content-length': '1000', 'accept-ranges': 'bytes' });
  t.equal(bytes.length, 0);
});

t.test('other origins may send range requests', async (t) => {
  const { ask, video } = await withArtifacts(t);
  const { status, headers } = await ask(video, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://player.example.org',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'range',
    },
  });
  t.ok(status === 200 || status === 204);
  t.equal(headers['access-control-allow-origin'], '*');
  t.match(headers['access-control-allow-headers'], /range/i);
});

t.test('a removed artifact gets 410, one that never existed 404', async (t) => {
  const { ask, jobId } = await withArtifacts(t);
  const answers: [string, number][] = [
    [`${jobId}/thumbnail.jpg`, 410],
    [`${jobId}/scene.py`, 404],
    [`${jobId}/video.mp4/`, 404],
    [`${jobId}/..%2f..%2fmaster.key`, 404],
    ['..%2fmaster.key/video.mp4', 404],
    ['__proto__/video.mp4', 404],
    [jobId, 404],
    ['', 404],
    ['%zz/video.mp4', 404],
  ];
  for (const [path, expected] of answers) {
    const { status, json, headers } = await ask(`/artifacts/${path}`);
    t.equal(status, expected, path);
    t.strictSame(Object.keys(json), ['error', 'message']);
    t.notMatch(headers['cache-control'], 'immutable');
  }
});
