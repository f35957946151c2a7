import { existsSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { SmallCheckout, stepsIn } from './small-checkout.ts';

t.test('killed with its programs', async (t) => {
  const checkout = await SmallCheckout.make(t);
  const env = { SCENEPRESS_SETUP_PYTHON: checkout.idlePython() };
  const asked = checkout.registry.hold();
  const first = checkout.start([], { env });
  await asked;
  process.kill(-first.pid, 'SIGKILL');
  await first.ended;
  checkout.registry.release();
  t.notOk(existsSync(checkout.path('node_modules')), 'nothing half done is in its place');
  const { code, stdout, stderr } = await checkout.start([], { env }).ended;
  t.equal(code, 0, stderr);
  t.match(stepsIn(stdout), ['Installing npm packages']);
  t.ok(existsSync(checkout.path('node_modules/small/index.js')));
});

t.test('killed while npm continues', async (t) => {
  const checkout = await SmallCheckout.make(t);
  const env = { SCENEPRESS_SETUP_PYTHON: checkout.idlePython() };
  const asked = checkout.registry.hold();
  const first = checkout.start([], { env });
  await asked;
  process.kill(first.pid, 'SIGKILL');
  const second = checkout.start([], { env });
  await second.prints('Waiting for another setup to finish …');
  checkout.registry.release();
  const { code, stderr } = await second.ended;
  t.equal(code, 0, stderr);
  t.ok(existsSync(checkout.path('node_modules/small/index.js')));
});

t.test('started twice: the second waits and finds everything done', async (t) => {
  const checkout = await SmallCheckout.make(t);
  const env = { SCENEPRESS_SETUP_PYTHON: checkout.idlePython() };
  const asked = checkout.registry.hold();
  const first = checkout.start([], { env });
  await asked;
  const second = checkout.start([], { env });
  await second.prints('Waiting for another setup to finish …');
  checkout.registry.release();
  t.match(await first.ended, { code: 0, stderr: '' });
  t.match(await second.ended, { code: 0, stdout: 'Waiting for another setup to finish …\n', stderr: '' });
});

t.test('a failed step leaves the results of others, and what was there before', async (t) => {
  const checkout = await SmallCheckout.make(t);
  const lock = checkout.path('renderer/requirements.lock');
  writeFileSync(lock, 'absent==1.0 --hash=sha256:00\n');
  const failed = await checkout.start().ended;
  t.equal(failed.code, 1);
  t.match(failed.stderr, /^Installing Python packages: uv ended with status \d\n( {2}\| .*\n)+Full log: \S+/);
  t.notOk(existsSync(checkout.path('.venv')));

  checkout.lockPythonPackage('requirements', 'small_run');
  const { code, stdout, stderr } = await checkout.start().ended;
  t.equal(code, 0, stderr);
  t.notMatch(stdout, 'Installing npm packages');
});
