// One scene serves many renders, which differ by their parameters.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { LocalRenderer } from '../../../lib/index.ts';
import { artifactPath, enqueue, render, sharedService } from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const service = await sharedService();
const CODE = `from manim import *
from scenepress_scene import param

class Main(Scene):
    name = param("name", "Ada", label="Who is greeted")
    seconds = param("seconds", 0.2, maximum=3)

    def construct(self):
        print(self.name)
        self.add_subcaption(f"Hello {self.name}", duration=self.seconds)
        self.wait(self.seconds)
`;
const DECLARED = [
  { name: 'name', type: 'string', default: 'Ada', label: 'Who is greeted', choices: null },
  { name: 'seconds', type: 'number', default: 0.2, minimum: null, maximum: 3 },
];

t.test('jobs of a batch differ by their parameters, and are rendered again with them', async (t) => {
  const names = ['Emmy', 'Größe "1"'];
  const request = { owner: 'ada', className: 'Main', code: CODE, quality: 'low' } as const;
  const added = await service.enqueueMany(names.map((name) => ({ ...request, params: { name, unused: 1 } })));
  for (const [index, { jobId }] of added.entries()) {
    const job = await service.wait(jobId);
    t.match(job, { status: 'completed', params: { name: names[index], unused: 1 } });
    t.equal(await service.output(jobId), `${names[index]}\n`);
    const captions = await readFile(await artifactPath(service, job, 'captions.vtt'), 'utf8');
    t.match(captions, `Hello ${names[index]}`);
  }
  const [first] = added;
  const again = await service.wait((await service.renderAgain(first?.jobId ?? '')).jobId);
  t.match(again, { status: 'completed', params: { name: 'Emmy' } });
  const changes = { params: { name: 'Noether' } };
  const changed = await service.wait((await service.renderAgain(again.jobId, { changes })).jobId);
  t.same(changed.params, { name: 'Noether' });
  t.equal(await service.output(changed.jobId), 'Noether\n');
  await service.forget(changed.jobId);
  t.equal((await service.get(changed.jobId)).params, null);
  t.equal((await render(service, { code: CODE })).params, null);
});

t.test('a value that breaks a rule fails the job, at the line of the declaration', async (t) => {
  const job = await render(service, { code: CODE, params: { seconds: 9 } });
  t.match(job, {
    status: 'failed',
    error: /^The parameter seconds must be at most 3, not 9\.\nline 6: seconds = param/,
    diagnosis: { kind: 'scene:param', line: 6 },
  });
  await t.rejects(enqueue(service, { params: { 'a b': 1 } }), { code: 'invalid_request' });
});

t.test('a check tells what the scenes declare, and what they do not', async (t) => {
  for (const dryRun of [true, false]) {
    t.match(await service.check(CODE, { dryRun }), { ok: true, findings: [], params: DECLARED });
    const unknown = await service.check(CODE, { dryRun, params: { nam: 'Ada' } });
    const warning = { kind: 'scene:param', severity: 'warning', candidates: ['name', 'seconds'] };
    t.match(unknown, { ok: true, findings: [warning] });
  }
  const { scenes } = await service.check(CODE, { params: { seconds: 3 } });
  t.match(scenes, [{ seconds: 3 }]);
  const wrong = await service.check(CODE, { params: { seconds: 'x' } });
  t.match(wrong, { ok: false, findings: [{ kind: 'scene:param', line: 6 }], params: DECLARED });
});

t.test('inspections and stills have parameters, too', async (t) => {
  const params = { name: 'Emmy' };
  t.match(await service.inspect(CODE, { params }), {
    ok: true,
    findings: [],
    scenes: [{ output: 'Emmy\n' }],
  });
  const unknown = { kind: 'scene:param', severity: 'warning', message: /declares no parameter nam,/ };
  const inspected = await service.inspect(CODE, { params: { nam: 'Ada' } });
  t.match(inspected, { ok: true, findings: [unknown], scenes: [{ output: 'Ada\n' }] });
  const refused = { kind: 'scene:param', severity: 'error', message: /seconds must be .*at most 3, not 9/ };
  for (const found of [
    await service.inspect(CODE, { params: { seconds: 9 } }),
    await service.check(CODE, { params: { seconds: 9 } }),
    await service.check(CODE, { params: { seconds: 9 }, dryRun: false }),
  ])
    t.match(found, { ok: false, findings: [refused], scenes: [] });
  const missing = await service.still(CODE, { params: { seconds: 9 } });
  t.match(missing, { ok: false, findings: [{ kind: 'scene:param' }] });
  t.match(await service.still(CODE, { params }), { ok: true });
});

t.test('so have renders, checks and inspections of this machine', async (t) => {
  const renderer = new LocalRenderer({ folder: join(testFolder(t), 'local'), workers: 1 });
  t.teardown(() => renderer.stop());
  await renderer.start();
  const params = { name: 'Emmy' };
  const rendered = await renderer.render({ code: CODE, className: 'Main', quality: 'low', params });
  t.match(rendered, { status: 'completed', output: 'Emmy\n' });
  await renderer.discard(rendered);
  t.match(await renderer.check(CODE, { params: { other: 1 } }), { params: DECLARED, findings: [{}] });
  t.match(await renderer.inspect(CODE, { params }), { scenes: [{ output: 'Emmy\n' }] });
});
