import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { TexInstallation } from '../../../lib/render/tex/tex-installation.ts';
import { enqueue, render, scene, startService } from '../../fixtures/renders.ts';

const tex = new TexInstallation();
const service = await startService(t, { workers: 1, tex });

t.test(
  'while TeX is being changed, formulas wait without a worker, whatever their scene catches',
  async (t) => {
    tex.enter('changing');
    const caught = scene(
      'try:',
      '    self.add(MathTex(r"\\int_0^1 x^{17}"))',
      'except BaseException:',
      '    pass',
    );
    const waiting = await enqueue(service, { code: caught });
    const known = await render(service, { code: scene('self.add(MathTex("x"), Text("no formula"))') });
    t.equal(known.status, 'completed', 'what TeX need not set is rendered meanwhile, by the only worker');
    await delay(500);
    t.match(await service.get(waiting.jobId), { status: 'running' });
    tex.enter('complete');
    t.match(await service.wait(waiting.jobId), { status: 'completed', creditsCost: 0 });
  },
);

t.test('before that, a formula that lacks a package says what to wait for', async (t) => {
  tex.enter('incomplete');
  const code = scene(
    'template = TexTemplate()',
    'template.add_to_preamble(r"\\usepackage{not-there-yet}")',
    'self.add(MathTex("x", tex_template=template))',
  );
  const job = await render(service, { code });
  t.match(job, { status: 'failed', error: /`not-there-yet\.sty' not found.*still installing TeX packages/s });
  t.equal((await render(service, { code: scene('self.add(MathTex("z+1"))') })).status, 'completed');
});
