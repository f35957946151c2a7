import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { openInstallation } from '../../appliance/app/installation.ts';
import { loadConfig } from '../../appliance/config/config.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress, serve } from './command.ts';

const [OLD, NEW] = ['aa'.repeat(32), 'bb'.repeat(32)];

interface Minted {
  keyId: string;
  webhookSecret: string;
}

async function mint(dataDir: string, env: Record<string, string> = {}): Promise<Minted> {
  const email = 'ada@example.org';
  await scenepress(['account', 'create', email, '--data-dir', dataDir], { env });
  const args = ['key', 'create', '--account', email, '--name', 'Test', '--json', '--data-dir', dataDir];
  return JSON.parse((await scenepress(args, { env })).stdout) as Minted;
}

async function secretIn(dataDir: string, { keyId }: Minted, masterKey?: string): Promise<string | null> {
  const env = masterKey === undefined ? {} : { SCENEPRESS_MASTER_KEY: masterKey };
  const installation = await openInstallation(loadConfig({ flags: { dataDir }, env }));
  try {
    return await installation.keys.webhookSecretOf(keyId);
  } finally {
    await installation.close();
  }
}

t.test('with a server, a new master key is generated and the secrets are kept', async (t) => {
  const dataDir = await temporaryFolder(t);
  const minted = await mint(dataDir);
  const before = await readFile(join(dataDir, 'master.key'), 'utf8');
  const server = await serve(t, ['--data-dir', dataDir]);
  const rotated = await scenepress(['master-key', 'rotate', '--json', '--data-dir', dataDir]);
  t.match(JSON.parse(rotated.stdout), { keys: 1 });
  t.notMatch(rotated.stdout + server.stderr(), (await readFile(join(dataDir, 'master.key'), 'utf8')).trim());
  server.kill('SIGTERM');
  await server.ended;
  t.not(await readFile(join(dataDir, 'master.key'), 'utf8'), before);
  t.equal(await secretIn(dataDir, minted), minted.webhookSecret);
});

t.test('a configured master key can be replaced by a new one', async (t) => {
  const dataDir = await temporaryFolder(t);
  const env = { SCENEPRESS_MASTER_KEY: OLD };
  const minted = await mint(dataDir, env);
  const rotate = ['master-key', 'rotate', '--data-dir', dataDir];
  t.match((await scenepress(rotate, { env })).stderr, /not kept in the data folder: give the new key/);

  const file = join(await temporaryFolder(t), 'new.key');
  const withFile = [...rotate, '--new-key-file', file];
  t.match(await scenepress(withFile, { env }), { code: 2, stderr: /new key can't be read/ });
  await writeFile(file, 'short');
  t.match(await scenepress(withFile, { env }), { code: 1, stderr: /64 hexadecimal digits/ });
  await writeFile(file, `${NEW}\n`);
  const { code, stdout } = await scenepress(withFile, { env });
  t.equal(code, 0);
  t.match(stdout, /^The webhook secrets of 1 key are encrypted.*\nStart the service with the new key/);
  t.equal(await secretIn(dataDir, minted, NEW), minted.webhookSecret);
  await t.rejects(secretIn(dataDir, minted, OLD), { code: 'master_key' });
});

t.test('the former key is kept for older backups, which can be restored only with it', async (t) => {
  const dataDir = await temporaryFolder(t);
  const minted = await mint(dataDir);
  const place = await temporaryFolder(t);
  const [backup, restored] = [join(place, 'backup'), join(place, 'restored')];
  const made = await scenepress(['backup', backup, '--data-dir', dataDir]);
  t.match(made, { code: 0, stdout: /does not include the master key/ });
  const before = await readFile(join(dataDir, 'master.key'), 'utf8');

  const rotated = await scenepress(['master-key', 'rotate', '--data-dir', dataDir]);
  t.match(
    rotated.stdout,
    /^The webhook.*\n.*while older backups need it \(`scenepress restore --master-key-file`\)/,
  );
  const [, former = ''] = /(master\.key\.until-\S+) in the same folder/.exec(rotated.stdout) ?? [];
  t.same(
    (await readdir(dataDir)).filter((name) => name.startsWith('master.key.until-')),
    [former],
  );
  t.equal(await readFile(join(dataDir, former), 'utf8'), before);
  t.equal((await stat(join(dataDir, former))).mode & 0o777, 0o600);
  t.notMatch(rotated.stdout, before.trim());

  const restore = ['restore', backup, '--data-dir', restored];
  const wrong = await scenepress([...restore, '--master-key-file', join(dataDir, 'master.key')]);
  t.match(wrong, { code: 1, stderr: /not the one.*Nothing was restored.*master\.key\.until-/ });
  const right = await scenepress([...restore, '--master-key-file', join(dataDir, former)]);
  t.match(right, { code: 0, stdout: /Its master key is \S+restored\/master\.key\./ });
  t.equal(await secretIn(restored, minted), minted.webhookSecret);
});

t.test('a restore without the master key reports that, and verifies a configured one', async (t) => {
  const dataDir = await temporaryFolder(t);
  const minted = await mint(dataDir);
  const place = await temporaryFolder(t);
  const backup = join(place, 'backup');
  await scenepress(['backup', backup, '--data-dir', dataDir]);
  const masterKey = (await readFile(join(dataDir, 'master.key'), 'utf8')).trim();
  const restoreTo = (name: string, key?: string) =>
    scenepress(['restore', backup, '--data-dir', join(place, name)], {
      env: key === undefined ? {} : { SCENEPRESS_MASTER_KEY: key },
    });
  t.match(await restoreTo('without'), {
    code: 0,
    stdout:
      /Its master key is missing\. The secrets of 1 API key \(svc_live_\w{7}\) are encrypted.*chmod 600/,
  });
  t.match(await restoreTo('wrong', NEW), { code: 1, stderr: /Nothing was restored/ });
  const right = await restoreTo('right', masterKey);
  t.match(right, { code: 0, stdout: /The configured master key decrypts all its secrets/ });
  t.notMatch(right.stdout, masterKey);
  t.equal(await secretIn(join(place, 'right'), minted, masterKey), minted.webhookSecret);
});
