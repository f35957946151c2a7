import { join } from 'node:path';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { type Ended, scenepress, serve } from './command.ts';
import { send } from './listening-appliance.ts';

const PYTHON = join(import.meta.dirname, '..', 'fixtures', 'instant-renderer', 'bin', 'python');
const RENDERS_AT_ONCE = { env: { SCENEPRESS_PYTHON: PYTHON, SCENEPRESS_INSECURE_NO_SANDBOX: 'true' } };
const EMAIL = 'ada@example.org';

/** Runs commands on a data folder. */
function commandsOn(dataDir: string) {
  const run = (...args: string[]): Promise<Ended> => scenepress([...args, '--data-dir', dataDir]);
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json');
    if (stdout === '') throw new Error(`${code}: ${stderr}`);
    return JSON.parse(stdout);
  };
  return { run, json };
}

/** A server on a data folder with an account and a key. */
async function serverWithAccount(t: Test) {
  const dataDir = await temporaryFolder(t);
  const commands = commandsOn(dataDir);
  await commands.json('account', 'create', EMAIL);
  const { key } = await commands.json('key', 'create', '--account', EMAIL, '--name', 'Test');
  const server = await serve(t, ['--data-dir', dataDir], RENDERS_AT_ONCE);
  const ask = (path: string, method = 'GET', body = '') =>
    send(server.port, path, { method, body, headers: { authorization: `Bearer ${key}` } });
  const post = async (code: string) => {
    const answer = await ask('/api/v2/render', 'POST', JSON.stringify({ code, className: 'Main' }));
    return { status: answer.status, jobId: String(answer.json['jobId']) };
  };
  return { dataDir, ...commands, server, ask, post };
}

t.test('with a server, jobs can be watched, listed, shown, canceled and retried', async (t) => {
  const { run, json, ask, post } = await serverWithAccount(t);
  t.match(await json('queue', 'pause'), { pausedAt: /Z$/, workers: 1, ready: true });
  t.match((await ask('/health/ready')).json, { status: 'ready', queue: 'paused' });
  const [good, bad, unwanted] = [await post('a scene'), await post('fail'), await post('a scene')];
  t.equal(unwanted.status, 202);
  t.match(await json('queue', 'show'), { queued: 3, running: 0 });
  t.match(
    (await run('queue', 'show')).stdout,
    /^Queue +paused since \d{4}-.*Z\nWaiting +3\nRunning +0 of 1\n$/,
  );

  t.match(await json('job', 'cancel', unwanted.jobId), {
    status: 'failed',
    error: 'Canceled',
    failedBy: 'cancel',
  });
  const watching = run('job', 'watch', bad.jobId);
  t.match(await json('queue', 'resume'), { pausedAt: null });
  const watched = await watching;
  t.equal(watched.code, 1);
  t.match(watched.stdout, /^Status +failed$/m);
  t.match(watched.stdout, /^Error +as it was told$/m);
  t.match(await json('job', 'watch', good.jobId), { status: 'completed', progress: null });

  const shown = await json('job', 'show', good.jobId);
  t.match(shown, { account: EMAIL, className: 'Main', quality: 'medium', fps: 30, attempts: 1 });
  t.match(await ask(new URL(shown.artifacts[0].url).pathname), { status: 200, text: 'a video' });
  t.match(await json('job', 'list', '--status', 'failed'), [{ jobId: unwanted.jobId }, { jobId: bad.jobId }]);
  const { stdout } = await run('job', 'list', '--account', EMAIL, '--limit', '1');
  t.match(
    stdout,
    /^JOB ID +STATUS +SCENE .*\n\w+ +failed +Main +medium +\d{4}-\d\d-\d\d \S+Z +0\.0 s +0 +ada@/,
  );
  t.equal(stdout.split('\n').length, 3);

  const again = await json('job', 'retry', good.jobId);
  t.not(again.jobId, good.jobId);
  t.equal((await run('job', 'watch', again.jobId)).code, 0);
  const refused = await run('job', 'cancel', good.jobId);
  t.equal(refused.code, 1);
  t.match(refused.stderr, /has already ended: it completed/);
});

t.test('a pause survives a restart, and the next start reports it', async (t) => {
  const { dataDir, run, json, server, post } = await serverWithAccount(t);
  await json('queue', 'pause');
  const { jobId } = await post('a scene');
  server.kill('SIGTERM');
  await server.ended;

  t.match(await json('queue', 'show'), { pausedAt: /Z$/, queued: 1, workers: 0, ready: false });
  const alone = await run('job', 'watch', jobId);
  t.equal(alone.code, 1);
  t.match(alone.stderr, /no server is running/);
  const again = await serve(t, ['--data-dir', dataDir], RENDERS_AT_ONCE);
  t.match(again.stdout(), /The queue has been paused since .*scenepress queue resume/);
  await json('queue', 'resume');
  t.match(await json('job', 'watch', jobId), { status: 'completed' });
});

t.test('without a server, queued jobs can be canceled and retried, and the queue resumed', async (t) => {
  const { dataDir, json, server, post } = await serverWithAccount(t);
  await json('queue', 'pause');
  const { jobId } = await post('a scene');
  server.kill('SIGTERM');
  await server.ended;
  t.match(await json('job', 'cancel', jobId), { status: 'failed', error: 'Canceled', failedBy: 'cancel' });
  t.match(await json('credits', 'balance', '--account', EMAIL), { free: 1000 });
  t.match(await json('queue', 'resume'), { pausedAt: null, queued: 0 });
  const again = await json('job', 'retry', jobId);
  t.match(again, { status: 'queued' });
  await serve(t, ['--data-dir', dataDir], RENDERS_AT_ONCE);
  t.match(await json('job', 'watch', again.jobId), { status: 'completed' });
});

t.test('the keys of a disabled account are rejected until it is enabled', async (t) => {
  const { json, run, ask, post } = await serverWithAccount(t);
  await json('queue', 'pause');
  const { jobId } = await post('a scene');
  t.match(await json('account', 'disable', EMAIL), { disabledAt: /Z$/, canceledJobs: 0 });
  t.match(await ask('/api/v2/me'), { status: 401, json: { error: 'Unauthorized' } });
  t.equal((await post('a scene')).status, 401);
  t.match(await json('job', 'show', jobId), { status: 'queued' }, 'an accepted job continues');
  t.match((await run('job', 'retry', jobId)).stderr, /disabled/);
  const [{ userId }] = (await json('account', 'list')).filter(
    ({ email }: { email: string }) => email === EMAIL,
  );
  t.match(await json('account', 'disable', userId, '--cancel-jobs'), { canceledJobs: 1 });
  t.match(await json('job', 'show', jobId), { status: 'failed', error: 'Canceled', failedBy: 'cancel' });
  t.match(await json('account', 'enable', EMAIL), { disabledAt: null });
  t.equal((await ask('/api/v2/me')).status, 200);
});
