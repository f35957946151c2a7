import t from 'tap';
import { ARTIFACT_NAMES } from '../../../lib/model/artifacts.ts';
import { jobOf } from '../../../lib/model/job.ts';
import { type ArtifactUrl, jobJson, jobJsonOfAll } from '../../../lib/model/job-json.ts';
import { jobRecord } from '../../fixtures/job-record.ts';

const createdAtMs = Date.parse('2026-11-21T10:00:00Z');

t.test('a completed job has links to its artifacts, in the order of the contract', async (t) => {
  const artifacts = (['captions.vtt', 'video.mp4', 'thumbnail.jpg'] as const).map((name) => ({
    name,
    assetKey: `secret/${name}`,
    sizeBytes: 1,
  }));
  const record = jobRecord('j"1', {
    phase: 'completed',
    artifacts,
    creditsCost: 3,
    durationMs: 2500,
    metadataJson: '{"n":1.0}',
    createdAtMs,
    completedAtMs: createdAtMs + 3000,
  });
  t.equal(
    jobJson(jobOf(record), 'https://a.test'),
    '{"jobId":"j\\"1","endpoint":"render","status":"completed","creditsCost":3,"durationMs":2500,"result":' +
      '{"video":"https://a.test/artifacts/j\\"1/video.mp4","thumbnail":"https://a.test/artifacts/j\\"1/thumbnail.jpg",' +
      '"captions":"https://a.test/artifacts/j\\"1/captions.vtt"},"error":null,"metadata":{"n":1.0},' +
      '"createdAt":"2026-11-21T10:00:00.000Z","completedAt":"2026-11-21T10:00:03.000Z"}',
  );
  const [, video] = artifacts;
  const { result } = JSON.parse(jobJson(jobOf({ ...record, artifacts: video ? [video] : [] }), ''));
  t.same(result, { video: '/artifacts/j"1/video.mp4' }, 'only those that exist');
});

t.test('only the tools API links to what a request has asked for', async (t) => {
  const artifacts = ARTIFACT_NAMES.map((name) => ({ name, assetKey: `k/${name}`, sizeBytes: 1 }));
  const job = jobOf(jobRecord('1', { phase: 'completed', artifacts, formats: ['gif'] }));
  t.strictSame(Object.keys(JSON.parse(jobJson(job, '')).result), ['video', 'thumbnail', 'captions']);
  const { result } = JSON.parse(jobJsonOfAll(job, ''));
  t.equal(Object.keys(result).length, ARTIFACT_NAMES.length);
  t.match(result, { video: '/artifacts/1/video.mp4', gif: '/artifacts/1/video.gif' });
});

t.test('other jobs have no result', async (t) => {
  t.equal(
    jobJson(
      jobOf(jobRecord('1', { phase: 'failed', error: 'a "quote"', createdAtMs, completedAtMs: createdAtMs })),
      '',
    ),
    '{"jobId":"1","endpoint":"render","status":"failed","creditsCost":0,"durationMs":0,"result":null,' +
      '"error":"a \\"quote\\"","metadata":null,"createdAt":"2026-11-21T10:00:00.000Z",' +
      '"completedAt":"2026-11-21T10:00:00.000Z"}',
  );
  t.match(JSON.parse(jobJson(jobOf(jobRecord('1', { phase: 'settling', durationMs: 5 })), '')), {
    status: 'running',
    durationMs: null,
    completedAt: null,
  });
});

t.test('links are made by a function of the embedder', async (t) => {
  const job = jobOf(
    jobRecord('j1', {
      phase: 'completed',
      owner: 'ada',
      artifacts: [{ name: 'video.mp4', assetKey: 'k/video.mp4', sizeBytes: 1 }],
    }),
  );
  const links: ArtifactUrl = (artifact) => `https://cdn.example/"${Object.values(artifact).join('"')}`;
  t.same(JSON.parse(jobJson(job, links)).result, {
    video: 'https://cdn.example/"j1"ada"video.mp4"k/video.mp4',
  });
});
