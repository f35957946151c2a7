import t from 'tap';
import { TexInstallation } from '../../../../lib/render/tex/tex-installation.ts';

const never = new AbortController().signal;

t.test('a failure may be due to a change that was in progress at any moment of the render', async (t) => {
  const tex = new TexInstallation();
  t.equal(tex.state, 'complete');
  const before = tex.changes;
  t.notOk(tex.mayHaveFailed(before));
  tex.enter('incomplete');
  t.notOk(tex.mayHaveFailed(before), 'a download changes nothing');
  tex.enter('changing');
  t.ok(tex.mayHaveFailed(before));
  t.ok(tex.mayHaveFailed(tex.changes), 'of a render that began meanwhile');
  tex.enter('complete');
  t.ok(tex.mayHaveFailed(before));
  t.notOk(tex.mayHaveFailed(tex.changes));
});

t.test('waiting ends with the change, or when it is aborted', async (t) => {
  const tex = new TexInstallation();
  await tex.settled(never);
  tex.enter('changing');
  let ended = 0;
  const controller = new AbortController();
  const [waiting, aborted] = [tex.settled(never), tex.settled(controller.signal)];
  void waiting.then(() => (ended += 1));
  controller.abort();
  await aborted;
  t.equal(ended, 0);
  tex.enter('complete');
  await waiting;
  t.equal(tex.listenerCount('change'), 0);
});

t.test('while packages are to come, an error for lack of something says so', async (t) => {
  const tex = new TexInstallation();
  const lacking = "TeX: LaTeX Error: File `physics.sty' not found. It isn't installed here.";
  t.equal(tex.explained(lacking), lacking);
  tex.enter('incomplete');
  t.match(tex.explained(lacking), /here\.\nThis service is still installing TeX packages; render it again/);
  t.match(tex.explained("TeX: the program 'xelatex' isn't there."), 'still installing');
  const own = 'TeX: Undefined control sequence \\foo';
  t.equal(tex.explained(own), own);
});
