import { join } from 'node:path';
import t from 'tap';
import { TestAuthority } from '../fixtures/certificates.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { webhookReceiver } from '../fixtures/webhook-receiver.ts';
import { scenepress, serve } from './command.ts';
import { send } from './listening-appliance.ts';

const PYTHON = join(import.meta.dirname, '..', 'fixtures', 'instant-renderer', 'bin', 'python');
const EMAIL = 'ada@example.org';
const authority = new TestAuthority(testFolder(t));
const certificate = authority.issue(['127.0.0.1']);

t.test('commands have the filters and actions of the lists of the dashboard', async (t) => {
  const dataDir = await temporaryFolder(t);
  const receiver = await webhookReceiver(t, certificate, (response) => {
    response.statusCode = 410;
    response.end('gone');
  });
  const hook = `https://127.0.0.1:${receiver.port}/hook`;
  const env = {
    SCENEPRESS_PYTHON: PYTHON,
    SCENEPRESS_INSECURE_NO_SANDBOX: 'true',
    SCENEPRESS_WEBHOOKS_ALLOW_NETWORKS: '127.0.0.0/8',
    SCENEPRESS_WEBHOOKS_CA: authority.caFile,
  };
  const run = (...args: string[]) => scenepress([...args, '--data-dir', dataDir], { env });
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json');
    if (stdout === '') throw new Error(`${code}: ${stderr}`);
    return JSON.parse(stdout);
  };
  await json('account', 'create', EMAIL);
  const key = await json('key', 'create', '--account', EMAIL, '--name', 'Site', '--webhook-url', hook);
  const { keyId } = key;
  const { port } = await serve(t, ['--data-dir', dataDir], { env });
  const post = async (code: string, quality: string, webhookUrl: string | null = null) => {
    const body = JSON.stringify({ code, className: 'Main', quality, webhookUrl });
    const headers = { authorization: `Bearer ${key.key}` };
    const { json: job } = await send(port, '/api/v2/render', { method: 'POST', body, headers });
    await run('job', 'watch', String(job['jobId']));
    return String(job['jobId']);
  };
  const [good, bad] = [await post('x', 'low'), await post('fail', 'high')];

  t.match(await json('job', 'list', '--quality', 'high'), [{ jobId: bad }]);
  t.match(await json('job', 'list', '--error', 'WAS TOLD'), [{ jobId: bad }]);
  t.same(await json('job', 'list', '--until', '2020-01-01'), []);
  t.equal((await json('job', 'list', '--since', '2020-01-01')).length, 2);
  t.match((await run('job', 'list', '--since', 'soon')).stderr, 'A time is written as 2026-11-22T18:30:00Z.');
  t.same(await json('job', 'count', '--since', '2020-01-01', '--account', EMAIL), {
    queued: 0,
    running: 0,
    completed: 1,
    failed: 1,
  });
  t.match((await run('job', 'count', '--since', '2020-01-01')).stdout, /^completed +1$/m);
  const details = await run('job', 'show', bad, '--details');
  t.match(details.stdout, /\nError +as it was told\n\nfail\n$/);
  t.match((await run('job', 'show', good)).stdout, /^Time +start \d+\.\d\d s, scene 0\.00 s, TeX 0\.00 s, /m);
  t.match((await run('job', 'show', good)).stdout, /^Copied frames +1$/m);
  t.match(await json('job', 'show', good), { usage: { workMs: { tex: 1, draw: 1 }, peakMemoryBytes: null } });
  t.match(await json('job', 'show', good, '--details'), { code: 'x', metadataJson: null });

  const forgotten = await run('job', 'forget', good, bad, '0'.repeat(48));
  t.match(forgotten, { code: 1, stdout: '2 jobs forgotten.\n', stderr: 'There is no such job.' });
  t.match(await json('job', 'cancel', good, bad), { done: [], problems: [{ code: 'conflict' }, {}] });

  const { userId } = await json('account', 'create', 'eve@example.org');
  const firstPage = await run('account', 'list', '--limit', '1', '--json');
  const after = /^There are more accounts\. Continue with --after (\S+)$/.exec(firstPage.stderr.trim())?.[1];
  t.match(JSON.parse(firstPage.stdout), [{ email: EMAIL, userId: after }]);
  t.match(await json('account', 'list', '--after', String(after)), [{ userId }]);
  t.match(await json('account', 'list', '--text', 'EVE@'), [{ userId }]);
  t.match(await json('key', 'list', '--live', '--limit', '1'), [{ keyId }]);

  t.match(await json('key', 'show', keyId), { keyId, name: 'Site', webhookUrl: hook, revokedAt: null });
  t.notMatch((await run('key', 'show', keyId)).stdout, /whsec_|svc_live_[0-9a-f]{9}/);
  t.match(await json('credits', 'prices'), { creditsPerSecond: { fourk: 16 }, reserveSeconds: 5 });
  t.match((await run('credits', 'prices')).stdout, /^fourk +16$/m);
  const spending = await json('credits', 'spending', '--account', EMAIL, '--days', '3');
  t.match([spending.length, spending.at(-1)], [3, { renders: 1 }]);

  const tested = await run('delivery', 'test', keyId);
  t.match(tested, {
    code: 1,
    stdout: /HMAC-SHA256 +[0-9a-f]{64}, equal to v1\nVerified +valid\nAnswer +410/,
  });
  t.match(await json('delivery', 'test', keyId, `${hook}?other`), { status: 410, answer: 'gone' });
  t.match((await run('delivery', 'test', 'key_0')).stderr, 'There is no key key_0.');
  t.equal(receiver.received.length, 2);

  await post('x', 'low', hook);
  await receiver.got(3);
  t.match(await json('delivery', 'list', '--state', 'pending', '--key', keyId), [{ url: hook, keyId }]);
  t.same(await json('delivery', 'list', '--state', 'failed'), []);
  t.same(await json('delivery', 'send-failed-again', '--since', '2020-01-01'), { sent: 0, isComplete: true });
});

t.test('without a server, a test event is sent, too', async (t) => {
  const dataDir = await temporaryFolder(t);
  const receiver = await webhookReceiver(t, certificate);
  const run = (env: Record<string, string>, ...args: string[]) =>
    scenepress([...args, '--data-dir', dataDir, '--json'], { env });
  await run({}, 'account', 'create', EMAIL);
  const made = await run({}, 'key', 'create', '--account', EMAIL, '--name', 'Site');
  const { keyId } = JSON.parse(made.stdout);
  const hook = `https://127.0.0.1:${receiver.port}/hook`;
  const blocked = await run({}, 'delivery', 'test', keyId, hook);
  t.match([blocked.code, JSON.parse(blocked.stdout)], [1, { reason: 'blocked' }]);
  const env = {
    SCENEPRESS_WEBHOOKS_ALLOW_NETWORKS: '127.0.0.0/8',
    SCENEPRESS_WEBHOOKS_CA: authority.caFile,
  };
  const sent = await run(env, 'delivery', 'test', keyId, hook);
  t.match([sent.code, JSON.parse(sent.stdout)], [0, { status: 200, answer: 'thanks' }]);
});
