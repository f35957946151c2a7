import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { MoreTex } from '../../../appliance/app/more-tex.ts';
import type { Logger } from '../../../appliance/support/log.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';

/** With a set-up that does what these lines say. */
function moreTex(t: Test, ...lines: string[]) {
  const folder = testFolder(t);
  const program = join(folder, 'process.mjs');
  writeFileSync(
    program,
    `import { existsSync, writeFileSync } from 'node:fs';
const file = (name) => ${JSON.stringify(folder)} + '/' + name;
const enter = (phase, detail = '') => process.send({ phase, detail });
const told = async (name) => { while (!existsSync(file(name))) await new Promise((next) => setTimeout(next, 10)); };
writeFileSync(file('pid'), String(process.pid));
${lines.join('\n')}
`,
  );
  const logged: string[] = [];
  const log = (level: string) => (details: { reason?: string }, message: string) => {
    logged.push(`${level} ${message}${details.reason === undefined ? '' : ` ${details.reason}`}`);
  };
  const logger = { info: log('info'), warn: log('warn') } as unknown as Logger;
  const started = new MoreTex(logger, program);
  t.teardown(() => {
    started.stop();
    writeFileSync(join(folder, 'end'), '');
  });
  const tell = (name: string) => writeFileSync(join(folder, name), '');
  return { more: started, tex: started.installation, logged, folder, tell };
}

t.test('an installation is shown in the log and in warnings, and told to renders', async (t) => {
  const { more, tex, logged, tell } = moreTex(
    t,
    "enter('downloading', '3 of 700 MB'); await told('install');",
    "enter('installing'); await told('prepare'); enter('preparing'); await told('end');",
    'process.disconnect();',
  );
  t.same(more.warnings(), []);
  more.start();
  await once(tex, 'change');
  t.equal(tex.state, 'incomplete');
  t.match(more.warnings(), [/XeTeX, .*are being downloaded \(3 of 700 MB\)\.$/]);
  tell('install');
  await once(tex, 'change');
  t.equal(tex.state, 'changing');
  t.match(more.warnings(), [/are being installed: formulas wait for that, .*signs\.$/]);
  tell('prepare');
  await once(tex, 'change');
  t.equal(tex.state, 'complete');
  tell('end');
  await until(() => more.warnings().length === 0);
  t.match(logged, [
    /^info .*downloaded/,
    /^info .*installed/,
    /^info .*prepared/,
    /^info .*are installed\.$/,
  ]);
});

t.test('a machine that has all of it sees nothing', async (t) => {
  const { more, tex, logged, folder, tell } = moreTex(t, 'process.disconnect();');
  tell('end');
  more.start();
  await until(() => existsSync(join(folder, 'pid')));
  await delay(200);
  t.same([tex.state, more.warnings(), logged], ['complete', [], []]);
});

t.test('a failure is a warning, and renders no longer wait', async (t) => {
  const { more, tex, logged } = moreTex(
    t,
    "enter('installing');",
    "process.send({ problem: 'the mirror does not answer' }, () => process.exit(1));",
  );
  more.start();
  await until(() => logged.some((line) => line.startsWith('warn')));
  t.equal(tex.state, 'complete');
  t.match(more.warnings(), [/are not installed\. Run `node scripts\/setup\.mjs`/]);
  t.match(logged.at(-1), /^warn .* could not be installed\. the mirror does not answer$/);
});

t.test('it can be left out', async (t) => {
  process.env['SCENEPRESS_EXTRA_TEX'] = 'off';
  t.teardown(() => {
    delete process.env['SCENEPRESS_EXTRA_TEX'];
  });
  const { more, folder } = moreTex(t, "enter('downloading');");
  more.start();
  await delay(300);
  t.notOk(existsSync(join(folder, 'pid')));
});

t.test('the process learns of the end of the service', async (t) => {
  const { more, tex, folder } = moreTex(
    t,
    "process.on('disconnect', () => { writeFileSync(file('told'), ''); process.exit(); });",
    "enter('installing'); await told('end');",
  );
  more.start();
  await once(tex, 'change');
  more.stop();
  await until(() => existsSync(join(folder, 'told')));
  t.ok(Number(readFileSync(join(folder, 'pid'), 'utf8')) > 0);
});
