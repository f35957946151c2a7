import { execFileSync } from 'node:child_process';
import { chownSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { deepTest } from '../fixtures/depth.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress, serve } from './command.ts';
import { IDLE_PYTHON } from './listening-appliance.ts';

const byRoot = process.getuid?.() === 0 ? false : 'only root can set this up';
/** Drops root's capabilities, so that file ownership is enforced. */
const WITHOUT_CAPABILITIES = ['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--'];
const OTHER_UID = 12345;

/** A data folder that has been used. */
const used = join(await temporaryFolder(t), 'data');
const made = await scenepress(['account', 'create', 'ada@example.org', '--data-dir', used]);
const credits = ['--account', 'ada@example.org', '--paid', '5'];
const granted = await scenepress(['credits', 'grant', ...credits, '--data-dir', used]);
t.same([made.code, granted.code], [0, 0]);

async function usedFolder(t: Test): Promise<string> {
  const dataDir = join(await temporaryFolder(t), 'data');
  await cp(used, dataDir, { recursive: true });
  return dataDir;
}

/** Asserts that the server refuses to start, prints one line and changes nothing in the folder. */
async function refused(t: Test, dataDir: string, message: RegExp, launcher: string[] = []) {
  const before = filesOf(dataDir);
  const { code, stdout, stderr } = await scenepress(['serve', '--data-dir', dataDir], {
    launcher,
    env: {
      SCENEPRESS_PYTHON: IDLE_PYTHON,
      SCENEPRESS_INSECURE_NO_SANDBOX: 'true',
      SCENEPRESS_LOG_LEVEL: 'fatal',
      SCENEPRESS_PORT: '0',
    },
  });
  t.equal(code, 1, stderr);
  t.match(stderr, message);
  t.equal(stderr.trim().split('\n').length, 1);
  t.equal(stdout, '');
  t.same(filesOf(dataDir), before);
}

/** The files of a folder, except those that locking creates. */
function filesOf(folder: string): Record<string, string> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return {};
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !/^(lock|admin)/.test(name) && statSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'latin1')]));
}

const databaseOf = (dataDir: string) => join(dataDir, 'database.sqlite');

/** Until the test ends. */
function makeReadOnly(t: Test, folder: string): void {
  execFileSync('mount', ['--bind', folder, folder]);
  t.teardown(() => execFileSync('umount', ['--lazy', folder]));
  execFileSync('mount', ['-o', 'remount,ro,bind', folder]);
}

async function flipByte(path: string, at: number): Promise<void> {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] as number) ^ 1;
  await writeFile(path, bytes);
}

deepTest(
  t,
  'a read-only disk',
  async (t) => {
    const dataDir = await usedFolder(t);
    makeReadOnly(t, dataDir);
    await refused(
      t,
      dataDir,
      /can't be used: its disk is read-only \(EROFS\)\. Mount it writable\. .*--data-dir/,
    );
  },
  { skip: byRoot },
);

t.test('a folder that belongs to another user', { skip: byRoot }, async (t) => {
  const dataDir = await usedFolder(t);
  chownSync(dataDir, OTHER_UID, OTHER_UID);
  await refused(
    t,
    dataDir,
    /this user \(user id 0\) may not use \S+ \(E(ACCES|PERM)\).*chown/,
    WITHOUT_CAPABILITIES,
  );
});

deepTest(
  t,
  'a folder that can’t be created',
  async (t) => {
    const parent = await temporaryFolder(t);
    await chmod(parent, 0o755);
    chownSync(parent, OTHER_UID, OTHER_UID);
    for (const [path, first] of [
      ['data', 'data'],
      ['deep/in/data', 'deep'],
    ] as const) {
      const dataDir = join(parent, path);
      const message = new RegExp(
        `may not create ${join(parent, first)} \\(EACCES\\)\\. Create ${dataDir} as root .*chown.*--data-dir`,
      );
      await refused(t, dataDir, message, WITHOUT_CAPABILITIES);
    }
  },
  { skip: byRoot },
);

deepTest(
  t,
  'a folder to create on a read-only disk',
  async (t) => {
    const parent = await temporaryFolder(t);
    makeReadOnly(t, parent);
    for (const path of ['data', 'deep/in/data'])
      await refused(
        t,
        join(parent, path),
        /can't be used: its disk is read-only \(EROFS\)\. Mount it writable/,
      );
  },
  { skip: byRoot },
);

deepTest(t, 'a folder where none can be created', async (t) => {
  await refused(t, '/proc/scenepress-data', /can't be used: .*--data-dir/);
});

deepTest(t, 'a file in the place of the folder, or of one above it', async (t) => {
  const file = join(await temporaryFolder(t), 'data');
  await writeFile(file, '');
  const message = new RegExp(`can't be used: ${file} is not a folder \\((EEXIST|ENOTDIR)\\)\\.`);
  for (const dataDir of [file, join(file, 'deep/in')]) await refused(t, dataDir, message);
});

deepTest(
  t,
  'a file that belongs to another user',
  async (t) => {
    const dataDir = await usedFolder(t);
    for (const path of [databaseOf(dataDir), join(dataDir, 'master.key')]) {
      chownSync(path, OTHER_UID, OTHER_UID);
      await refused(t, dataDir, new RegExp(`may not use ${path} \\(EACCES\\).*chown`), WITHOUT_CAPABILITIES);
      chownSync(path, 0, 0);
    }
  },
  { skip: byRoot },
);

t.test('a missing database', async (t) => {
  const dataDir = await usedFolder(t);
  await rm(databaseOf(dataDir));
  await refused(t, dataDir, /is damaged: database\.sqlite is missing.*Nothing was changed\. \S+/);
});

deepTest(t, 'a file that is not a database', async (t) => {
  const dataDir = await usedFolder(t);
  await flipByte(databaseOf(dataDir), 0);
  await refused(t, dataDir, /database\.sqlite is damaged \(file is not a database\)\. \S+/);
});

deepTest(t, 'a folder at the path of the database', async (t) => {
  const dataDir = await usedFolder(t);
  const path = databaseOf(dataDir);
  await rm(path);
  await mkdir(path);
  await refused(t, dataDir, new RegExp(`${path} is a folder where a file should be`));
});

deepTest(t, 'a missing database while documents or artifacts exist', async (t) => {
  const dataDir = await usedFolder(t);
  await mkdir(join(dataDir, 'artifacts/job1'), { recursive: true });
  await rm(databaseOf(dataDir));
  await refused(t, dataDir, /database\.sqlite is missing, but accounts\.json is there/);
  for (const name of ['accounts.json', 'keys.json', 'settings.json']) await rm(join(dataDir, name));
  await refused(t, dataDir, /database\.sqlite is missing, but artifacts of jobs is there/);
});

t.test('an invalid document', async (t) => {
  const dataDir = await usedFolder(t);
  const path = join(dataDir, 'accounts.json');
  await writeFile(path, readFileSync(path, 'utf8').replace('"disabledAt": null', '"disabledAt": true'));
  await refused(
    t,
    dataDir,
    /accounts\.json can't be used: entry 1 \(acct_\w+\): "disabledAt" must be null, or/,
  );
});

deepTest(t, 'a folder with other contents', async (t) => {
  const dataDir = await temporaryFolder(t);
  await writeFile(join(dataDir, 'thesis.tex'), '');
  await chmod(dataDir, 0o755);
  await refused(t, dataDir, /is not a data folder and isn't empty \(thesis\.tex\).*Use an empty folder/);
  t.equal(statSync(dataDir).mode & 0o777, 0o755);
});

deepTest(t, 'another file at the path of the lock', async (t) => {
  const dataDir = await usedFolder(t);
  await writeFile(join(dataDir, 'lock'), 'this is no lock, it is a text about locks '.repeat(30));
  await refused(t, dataDir, /its lock \S+\/lock can't be taken .*remove it/);
});

t.test('a truncated master key', async (t) => {
  const dataDir = await usedFolder(t);
  await writeFile(join(dataDir, 'master.key'), 'abcdef\n');
  await refused(t, dataDir, /master\.key is damaged: a key is 64 hexadecimal digits/);
});

deepTest(t, 'unrelated files in the data folder are not changed', async (t) => {
  const dataDir = await usedFolder(t);
  await writeFile(join(dataDir, 'notes.txt'), 'mine');
  await writeFile(join(dataDir, 'database.sqlite.bak'), 'mine');
  const { kill, ended } = await serve(t, ['--data-dir', dataDir]);
  kill('SIGTERM');
  await ended;
  for (const name of ['notes.txt', 'database.sqlite.bak']) {
    t.equal(readFileSync(join(dataDir, name), 'utf8'), 'mine');
  }
});
