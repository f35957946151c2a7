import t from 'tap';
import { openApiDocument } from '../../lib/web/openapi/render-document.ts';
import { answerSchema, type Document, violations } from '../appliance/json-schema.ts';
import { type ListeningAppliance, listeningAppliance } from '../appliance/listening-appliance.ts';

const IMPORT = 'from manim import *\n\n\n';
const DOT = `${IMPORT}class Scene1(Scene):\n    def construct(self):\n        self.play(Create(Dot()), run_time=0.2)\n`;
const CAPTIONED = `${DOT}        self.add_subcaption("Grüße", duration=0.2)\n        self.wait(0.2)\n`;
const FAILING = `${DOT}        raise ValueError("no dots left")\n`;

interface JobAnswer extends Record<string, unknown> {
  result: { video: string; thumbnail: string; captions?: string } | null;
}

/** Renders a scene and returns its job as GET shows it. */
async function render({ post, service, askAs, key }: ListeningAppliance, code: string): Promise<JobAnswer> {
  const { jobId } = (await post({ code, className: 'Scene1', quality: 'low', metadata: { n: 1 } })).json;
  await service.wait(String(jobId));
  const { status, json } = await askAs(key, `/api/v2/render/${jobId}`);
  if (status !== 200) throw new Error(`status ${status}`);
  return json as JobAnswer;
}

t.test('a render request produces a video, a thumbnail and captions', async (t) => {
  const appliance = await listeningAppliance(t, { renders: true });
  const { ask, url, askAs, key } = appliance;
  const job = await render(appliance, CAPTIONED);
  const document = openApiDocument() as unknown as Document;
  t.strictSame(violations(answerSchema(document, 'get', '/api/v2/render/{jobId}', 200), job), []);
  t.match(job, {
    status: 'completed',
    error: null,
    metadata: { n: 1 },
    durationMs: Number,
    completedAt: /Z$/,
  });
  t.ok(Number(job['creditsCost']) >= 1);

  const begin = `${url}/artifacts/${job['jobId']}/`;
  t.strictSame(job.result, {
    video: `${begin}video.mp4`,
    thumbnail: `${begin}thumbnail.jpg`,
    captions: `${begin}captions.vtt`,
  });
  const artifact = async (link = '') => (await ask(new URL(link).pathname)).bytes;
  t.equal((await artifact(job.result?.video)).toString('latin1', 4, 8), 'ftyp');
  t.equal((await artifact(job.result?.thumbnail)).readUInt16BE(0), 0xffd8);
  t.match((await artifact(job.result?.captions)).toString(), /^WEBVTT\n.*Grüße/s);

  const { credits } = (await askAs(key, '/api/v2/me')).json as { credits: { total: number } };
  t.equal(credits.total, 1_001_000 - Number(job['creditsCost']), 'the cost of the render is charged');
});

t.test('the result of a scene without captions has no captions link', async (t) => {
  const assetUrl = 'https://assets.example.org/files';
  const { result, ...job } = await render(await listeningAppliance(t, { renders: true, assetUrl }), DOT);
  t.strictSame(result, {
    video: `${assetUrl}/artifacts/${job['jobId']}/video.mp4`,
    thumbnail: `${assetUrl}/artifacts/${job['jobId']}/thumbnail.jpg`,
  });
});

t.test('the job of a failing scene fails and costs nothing', async (t) => {
  const appliance = await listeningAppliance(t, { renders: true });
  const job = await render(appliance, FAILING);
  t.match(job, { status: 'failed', result: null, creditsCost: 0, durationMs: Number, completedAt: /Z$/ });
  t.match(job['error'], /ValueError: no dots left/);
  t.match(job['error'], /line 7/);
  t.notMatch(job['error'], process.cwd());
  t.match((await appliance.askAs(appliance.key, '/api/v2/me')).json, { credits: { total: 1_001_000 } });
});
