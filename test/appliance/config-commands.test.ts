import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { OPTIONS } from '../../appliance/config/options.ts';
import { VERSION } from '../../appliance/support/version.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress } from './command.ts';

const MASTER_KEY = 'ab'.repeat(32);

t.test('config show lists every option with its value and source, and hides secrets', async (t) => {
  const file = join(await temporaryFolder(t), 'scenepress.json');
  await writeFile(file, JSON.stringify({ host: '0.0.0.0', freeCredits: 7 }));
  const env = { SCENEPRESS_CONFIG: file, SCENEPRESS_FREE_CREDITS: '8', SCENEPRESS_MASTER_KEY: MASTER_KEY };
  const args = ['config', 'show', '--port', '80'];
  const { code, stdout } = await scenepress([...args, '--json'], { env });
  t.equal(code, 0);
  const shown = JSON.parse(stdout) as { option: string; value: unknown; source: string }[];
  t.strictSame(
    shown.map(({ option }) => option),
    Object.keys(OPTIONS),
  );
  const of = (name: string) => shown.find(({ option }) => option === name);
  t.match(of('port'), { value: 80, source: 'flag' });
  t.match(of('freeCredits'), { value: 8, source: 'environment' });
  t.match(of('host'), { value: '0.0.0.0', source: 'file' });
  t.match(of('dataDir'), { value: './data', source: 'default' });
  t.match(of('masterKey'), { value: '(hidden)', source: 'environment' });

  const table = await scenepress(args, { env });
  t.match(table.stdout, /^OPTION +VALUE +FROM\n/);
  t.match(table.stdout, /^workers +the number of CPUs +default$/m);
  t.match(table.stdout, /^creditsPerSecond +1,2,4,8,16 +default$/m);
  t.notMatch(stdout + table.stdout, MASTER_KEY);
});

t.test('config check reports all errors at once', async (t) => {
  t.match(await scenepress(['config', 'check']), { code: 0, stdout: /is valid: 0 options set/ });
  const env = { SCENEPRESS_PORT: 'x', SCENEPRESS_MASTER_KEY: 'secret', SCENEPRESS_WORKER: '3' };
  const wrong = await scenepress(['config', 'check', '--webhooks-ca', '/nowhere/ca.pem'], { env });
  t.equal(wrong.code, 2);
  t.match(wrong.stdout, /^SCENEPRESS_PORT must be a whole number .*, not "x"\.$/m);
  t.match(wrong.stdout, /^SCENEPRESS_MASTER_KEY must be 64 hexadecimal digits\.$/m);
  t.match(wrong.stdout, /^SCENEPRESS_WEBHOOKS_CA .*names \/nowhere\/ca\.pem, which does not exist\.$/m);
  t.match(wrong.stdout, /^SCENEPRESS_WORKER is set, but there is no such option\.$/m);
  t.notMatch(wrong.stdout, /secret/);
});

t.test('config check reports all unknown names of the file, and says what was meant', async (t) => {
  const file = join(await temporaryFolder(t), 'scenepress.json');
  await writeFile(file, '{"database-url": "x", "SCENEPRESS_DATA_DIR": "y", "prot": 1, "port": "z"}');
  const { code, stdout } = await scenepress(['config', 'check', '--config', file]);
  t.equal(code, 2);
  t.match(stdout, /^"database-url" in .* is not an option\. Its name is "databaseUrl"\.$/m);
  t.match(stdout, /^"SCENEPRESS_DATA_DIR" in .* is not an option\. Its name is "dataDir"\.$/m);
  t.match(stdout, /^"prot" in .* is not an option\. Options are: /m);
  t.match(stdout, /^"port" in .* must be a whole number/m);
  const shown = await scenepress(['config', 'show', '--config', file]);
  t.match(shown, { code: 2, stderr: /"database-url" in .* is not an option/ });
});

t.test('version prints the versions of Scenepress and Node and the platform', async (t) => {
  const { stdout } = await scenepress(['version', '--json']);
  t.match(JSON.parse(stdout), { scenepress: VERSION, node: process.versions.node, platform: /^linux / });
});
