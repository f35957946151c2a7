import { readdirSync } from 'node:fs';
import t from 'tap';
import { BODY_LINE, render, scene, sharedFolder, sharedService } from '../../fixtures/renders.ts';

const service = await sharedService();
const BROKEN = scene('Circle(radios=2)');
const TWO = `from manim import *

class One(Scene):
    def construct(self):
        self.play(Create(Circle()))

class Two(Scene):
    def construct(self):
        self.wiat()
`;

t.test('a check finds what a render fails on, with place and advice', async (t) => {
  const { ok, findings, scenes } = await service.check(BROKEN, { className: 'Main', owner: 'ada' });
  t.same({ ok, scenes }, { ok: false, scenes: [] });
  t.match(findings, [
    {
      ...{ kind: 'scene:argument', severity: 'error', line: BODY_LINE, candidates: ['radius'] },
      hint: '`radios` is not accepted here: use `radius`.',
      fix: { line: 6, column: 16, endColumn: 22, text: 'radius' },
    },
  ]);
  const job = await render(service, { code: BROKEN });
  t.match(job, { status: 'failed', failedBy: 'scene' });
  t.same(job.diagnosis, findings[0]);
  t.equal(job.error, `${findings[0]?.message}\nline ${BODY_LINE}: Circle(radios=2)`);
});

t.test('without a class, every scene of the code is checked', async (t) => {
  const { ok, findings, scenes } = await service.check(TWO);
  t.equal(ok, false);
  t.match(findings, [{ kind: 'scene:attribute', line: 9, candidates: ['wait'], fix: { text: 'wait' } }]);
  t.match(scenes, [{ className: 'One', frames: 30, seconds: 1, readsPixels: false, plays: [{ line: 5 }] }]);
  t.match(await service.check(TWO, { className: 'One', quality: 'high' }), {
    ok: true,
    scenes: [{ frames: 60 }],
  });
});

t.test('an error of the whole file is found once, and code without a scene is one', async (t) => {
  t.match((await service.check('from manim import *\nclass One(Scene:\n')).findings, [
    { kind: 'scene:syntax', line: 2 },
  ]);
  const { ok, findings } = await service.check('x = 1');
  t.match({ ok, findings }, { ok: false, findings: [{ kind: 'scene:class' }] });
  t.equal(findings.length, 1);
});

t.test('several sources are checked in their order', async (t) => {
  const codes = Array.from({ length: 12 }, (_, index) =>
    scene(index % 3 === 0 ? 'self.wiat()' : 'self.wait()'),
  );
  const found = await service.checkMany(codes, { owner: 'ada' });
  t.same(
    found.map(({ ok }) => ok),
    codes.map((_, index) => index % 3 !== 0),
  );
  t.same(await service.checkMany([]), []);
});

t.test('without a dry run, the code is only read', async (t) => {
  const several = TWO.replace('Create(Circle())', 'Creat(Circle(radios=2))');
  const { ok, findings, scenes } = await service.check(several, { dryRun: false, owner: 'ada' });
  t.same({ ok, scenes }, { ok: false, scenes: [] });
  t.match(findings, [
    { kind: 'scene:name', severity: 'error', line: 5, fix: { text: 'Create' } },
    { kind: 'scene:argument', line: 5, fix: { text: 'radius' } },
    { kind: 'scene:attribute', line: 9, fix: { text: 'wait' } },
  ]);
  t.same(await service.check(TWO, { dryRun: false, className: 'One' }), {
    ...{ ok: true, findings: [], params: [], scenes: [] },
  });
  const [read, run] = await Promise.all(
    [false, true].map((dryRun) => service.check(BROKEN, { className: 'Main', dryRun })),
  );
  t.same(
    read?.findings,
    run?.findings.map((finding) => ({ ...finding, play: null, calls: [] })),
  );
  const silly = scene("MathTex('\\theta')");
  t.match(await service.check(silly, { dryRun: false }), { ok: true, findings: [{ severity: 'warning' }] });
  await t.rejects(service.check('', { dryRun: false }), { code: 'invalid_request' });
  await t.rejects(service.check(TWO, { dryRun: false, fps: 0 }), { code: 'invalid_request' });
});

t.test('reading code runs nothing of it, and takes no worker', async (t) => {
  const busy = service.check(scene('while True: pass'));
  const code = ["open('left', 'w')", 'while True: pass', 'Circl()'].join('\n');
  t.match((await service.check(code, { dryRun: false })).findings, [{ kind: 'scene:class', line: null }]);
  t.match((await service.check('Circl()', { dryRun: false })).findings, [{ line: 1 }]);
  t.match((await busy).findings, [{ kind: 'limit:time' }]);
});

t.test('requests that no render can have are refused', async (t) => {
  for (const options of [
    { className: '1' },
    { quality: 'best' as never },
    { fps: 0 },
    { aspectRatio: '1:1' as never },
  ])
    await t.rejects(service.check(BROKEN, options), { code: 'invalid_request' });
  await t.rejects(service.check(''), { code: 'invalid_request', message: 'code is required' });
});

t.test('a check leaves no job and no file', async (t) => {
  const before = await service.list({});
  await service.check(scene("open('left', 'w').write('x')"));
  t.equal((await service.list({})).length, before.length);
  const files = readdirSync(await sharedFolder(), { recursive: true, encoding: 'utf8' });
  t.ok(files.length > 0);
  t.same(
    files.filter((name) => name.endsWith('/left')),
    [],
  );
});

t.test('code that forges the report of another job, or goes on after its limit, has failed', async (t) => {
  const forged = scene(
    'import gc',
    "next(o for o in gc.get_objects() if type(o).__name__ == 'JobChannel').done()",
    'os._exit(0)',
  );
  const { ok, findings } = await service.check(forged, { owner: 'ada' });
  t.match({ ok, findings }, { ok: false, findings: [{ kind: 'scene:error', message: /something else/ }] });
  const stubborn = scene(
    'while True:',
    '    try:',
    '        while True: pass',
    '    except BaseException: pass',
  );
  t.match((await service.check(stubborn)).findings, [
    {
      kind: 'limit:time',
      message: /5 seconds of CPU time|took too long|ended after 5 seconds/,
      line: Number,
    },
  ]);
});

t.test('a diagnosis is forgotten with the job', async (t) => {
  const { jobId, diagnosis } = await render(service, { code: BROKEN });
  t.ok(diagnosis);
  t.equal((await service.forget(jobId)).diagnosis, null);
  t.equal((await service.get(jobId)).diagnosis, null);
});
