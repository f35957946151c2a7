// What owners put into a service, their scenes read.
import t from 'tap';
import { BODY_LINE, scene, sharedService } from '../../fixtures/renders.ts';
import { until } from '../../fixtures/until.ts';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="4" height="2" fill="red"/></svg>';
const CODE = scene(
  'from brand import COLOR',
  'logo = SVGMobject("art/logo.svg").set_color(COLOR)',
  'print(open("data.csv").read())',
  'self.play(FadeIn(logo), run_time=0.2)',
);
const service = await sharedService();
const put = (name: string, content: string) => service.files.put({ owner: 'ada', name, content });
const rendered = async (request: object = {}) => {
  const { jobId } = await service.enqueue({
    owner: 'ada',
    className: 'Main',
    code: CODE,
    quality: 'low',
    ...request,
  });
  return { ...(await service.wait(jobId)), output: await service.output(jobId) };
};
await put('art/logo.svg', SVG);
await put('brand.py', 'COLOR = "#00ff00"');
const data = await put('data.csv', 'first');

t.test('jobs, checks, pictures and lists of an owner read its files; those of another do not', async (t) => {
  t.match(await rendered(), { status: 'completed', error: null, output: 'first\n' });
  t.match(await service.check(CODE, { owner: 'ada' }), { ok: true, scenes: [{ className: 'Main' }] });
  t.match(await service.check(CODE, { owner: 'ada', dryRun: false }), { ok: true });
  t.match(await service.still(CODE, { owner: 'ada', quality: 'low' }), { ok: true });
  t.match(await service.inspect(CODE, { owner: 'ada' }), { ok: true, scenes: [{ output: 'first\n' }] });
  t.same(await service.scenesOf(`from brand import COLOR\n${CODE}`, { owner: 'ada' }), ['Main']);

  const finding = {
    kind: 'scene:import',
    line: BODY_LINE,
    message: /No module named 'brand'.* among the account's files/,
  };
  t.match(await rendered({ owner: 'eve' }), { status: 'failed', diagnosis: finding });
  for (const options of [{ owner: 'eve' }, { owner: 'ada', files: {} }, { owner: 'eve', dryRun: false }])
    t.match(await service.check(CODE, options), { ok: false, findings: [finding] });
  await t.rejects(service.check(CODE, { files: {} }), { code: 'invalid_request', message: /give `owner`/ });
});

t.test('a job is rendered with the files that there were when it was added, again, too', async (t) => {
  await service.pauseQueue();
  const { jobId } = await service.enqueue({ owner: 'ada', className: 'Main', code: CODE, quality: 'low' });
  await put('data.csv', 'second');
  await service.resumeQueue();
  t.match(await service.wait(jobId), { status: 'completed' });
  t.equal(await service.output(jobId), 'first\n');
  t.match(await rendered(), { output: 'second\n' });
  const again = await service.renderAgain(jobId);
  await service.wait(again.jobId);
  t.equal(await service.output(again.jobId), 'first\n');
});

t.test('a file that is replaced and removed while it is read stays as it was', async (t) => {
  const waits = scene(
    'import time',
    'print(open("data.csv").read())',
    'self.wait(0.1)',
    'time.sleep(1)',
    'print(open("data.csv").read())',
  );
  const third = await put('data.csv', 'third');
  const { jobId } = await service.enqueue({ owner: 'ada', className: 'Main', code: waits, quality: 'low' });
  await until(async () => (await service.get(jobId)).status === 'running');
  await service.files.remove(third.fileId, { owner: 'ada' });
  await put('data.csv', 'fourth');
  t.match(await service.wait(jobId), { status: 'completed' });
  t.equal(await service.output(jobId), 'third\nthird\n');
  await t.rejects(rendered({ files: { 'data.csv': data.fileId } }), { code: 'not_found' });
});
