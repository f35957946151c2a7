import t from 'tap';
import { OPTIONS, variableOf } from '../../appliance/config/options.ts';
import { VERSION } from '../../appliance/support/version.ts';
import { openApiDocument } from '../../lib/web/openapi/render-document.ts';
import { toolsDocument } from '../../lib/web/tools/document.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress } from './command.ts';

t.test('incorrect usage exits with code 2', async (t) => {
  const cwd = await temporaryFolder(t);
  const wrong = [
    ['bogus'],
    ['serve', '--bogus'],
    ['account', 'create'],
    ['key', 'create', '--name', 'x'],
    ['render', 'scene.py'],
    ['render', 'missing.py', 'Scene1'],
    ['render', import.meta.filename, 'Scene1', '-q', 'ultra'],
    ['render', import.meta.filename, 'Scene1', '--fps', 'fast'],
    ['render', import.meta.filename, 'My Scene'],
  ];
  for (const args of wrong) {
    const { code, stdout, stderr } = await scenepress(args, { cwd });
    t.equal(code, 2, args.join(' '));
    t.equal(stdout, '');
    t.not(stderr, '');
    t.notMatch(stderr, /\n {4}at /);
  }
});

t.test('a misspelled command or option gets a suggestion', async (t) => {
  t.match(
    (await scenepress(['acount', 'list'])).stderr,
    /unknown command 'acount'\n\(Did you mean account\?\)/,
  );
  t.match((await scenepress(['job', 'lst'])).stderr, /Did you mean list\?/);
  t.match(await scenepress(['help', 'rendr']), { code: 2, stderr: /'rendr'\n\(Did you mean render\?\)/ });
  t.match(await scenepress(['help', 'job', 'lst']), { code: 2, stderr: /Did you mean list\?/ });
  t.match(await scenepress(['help', 'job', 'list']), { code: 0, stdout: /^Usage: scenepress job list / });
  t.match((await scenepress(['job', 'list', '--statu', 'failed'])).stderr, /Did you mean --status\?/);
});

t.test('--help and --version exit with code 0', async (t) => {
  t.match(await scenepress(['--version']), { code: 0, stdout: `${VERSION}\n` });
  t.match(await scenepress(['--help']), { code: 0, stdout: /setup/ });
});

t.test('the version is that of package.json', async (t) => {
  t.equal(VERSION, packageJson.version);
});

t.test('the help of serve lists every option and its environment variable', async (t) => {
  const { stdout } = await scenepress(['serve', '--help']);
  const words = stdout.replaceAll(/\s+/g, ' ');
  for (const name of Object.keys(OPTIONS)) t.match(words, variableOf(name));
  t.notMatch(words, '--master-key <', 'a secret is not accepted as a flag');
});

t.test('openapi prints the OpenAPI documents', async (t) => {
  for (const [args, document] of [
    [[], openApiDocument()],
    [['--tools'], toolsDocument()],
  ] as const) {
    const { code, stdout } = await scenepress(['openapi', ...args]);
    t.equal(code, 0);
    t.strictSame(JSON.parse(stdout), JSON.parse(JSON.stringify(document)));
  }
});
