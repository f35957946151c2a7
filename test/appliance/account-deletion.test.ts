import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { isDeep } from '../fixtures/depth.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress, serve } from './command.ts';
import { send } from './listening-appliance.ts';

const PYTHON = join(import.meta.dirname, '..', 'fixtures', 'instant-renderer', 'bin', 'python');
const RENDERS_AT_ONCE = { env: { SCENEPRESS_PYTHON: PYTHON, SCENEPRESS_INSECURE_NO_SANDBOX: 'true' } };
const EMAIL = 'ada-lovelace@example.org';
const MARKS = [
  EMAIL,
  'name-of-the-key',
  'text-of-the-scene',
  'text-of-the-metadata',
  'hook.example.org/path',
];

/** The files of a folder, encrypted and binary ones included, that contain a text. */
async function filesHolding(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const held = await Promise.all(files.map(async (file) => (await readFile(file)).includes(text)));
  return files.filter((_, index) => held[index]);
}

for (const beside of isDeep ? [true, false] : [true]) {
  t.test(
    `${beside ? 'with' : 'without'} a server, deleting an account keeps only its payment records`,
    async (t) => {
      const dataDir = await temporaryFolder(t);
      const run = (...args: string[]) => scenepress([...args, '--data-dir', dataDir]);
      const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);
      const { userId } = await json('account', 'create', EMAIL);
      const hook = 'https://hook.example.org/path';
      const { key } = await json(
        'key',
        'create',
        '--account',
        EMAIL,
        '--name',
        MARKS[1] as string,
        '--webhook-url',
        hook,
      );
      const server = await serve(t, ['--data-dir', dataDir], RENDERS_AT_ONCE);
      const ask = (path: string, method = 'GET', body = '') =>
        send(server.port, path, { method, body, headers: { authorization: `Bearer ${key}` } });
      const post = async () => {
        const body = { code: 'text-of-the-scene', className: 'Main', metadata: 'text-of-the-metadata' };
        return (await ask('/api/v2/render', 'POST', JSON.stringify(body))).json['jobId'] as string;
      };
      const done = await post();
      t.match(await json('job', 'watch', done), { status: 'completed' });
      // One credit, or more on a busy machine.
      const { creditsCost } = await json('job', 'show', done);
      t.ok(creditsCost >= 1);
      await json('queue', 'pause');
      const waiting = await post();
      if (!beside) {
        server.kill('SIGTERM');
        await server.ended;
      }

      const asked = await run('account', 'delete', EMAIL);
      t.match(asked, { code: 2, stderr: /cancel and forget its jobs.*add --yes/s });
      t.strictSame(await json('account', 'delete', EMAIL, '--yes'), {
        userId,
        revokedKeys: 1,
        forgottenJobs: 2,
      });

      if (beside) t.equal((await ask('/api/v2/me')).status, 401);
      t.strictSame(
        (await json('account', 'list')).filter((account: { userId: string }) => account.userId === userId),
        [],
      );
      t.match(await json('job', 'show', waiting), { account: userId, status: 'failed' });
      t.match(await json('job', 'show', done), { account: userId, status: 'completed', creditsCost });
      const statement = await json('credits', 'statement', '--account', userId);
      t.ok(
        statement.some(({ jobId }: { jobId: string }) => jobId === done),
        'the statement still lists the charge',
      );
      t.match(await json('credits', 'audit'), { problems: [] });
      t.match(await run('account', 'enable', userId), { code: 1, stderr: /There is no account/ });
      for (const mark of MARKS) t.strictSame(await filesHolding(dataDir, mark), [], `${mark} is gone`);

      t.not((await json('account', 'create', EMAIL)).userId, userId, 'the address can be used again');
    },
  );
}
