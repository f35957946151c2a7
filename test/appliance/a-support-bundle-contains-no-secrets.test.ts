import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import t from 'tap';
import { redact, redactLogLine } from '../../appliance/support/redact.ts';
import { VERSION } from '../../appliance/support/version.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress, serve } from './command.ts';
import { send } from './listening-appliance.ts';

const MASTER_KEY = 'c0ffee00'.repeat(8);
const EMAIL = 'ada@example.org';

async function unpacked(path: string): Promise<Record<string, string>> {
  const entries = await unpackTar(gunzipSync(await readFile(path)));
  return Object.fromEntries(
    entries.map(({ header, data }) => [header.name, Buffer.from(data ?? []).toString('utf8')]),
  );
}

t.test(
  'with a server it contains versions, configuration, counts, metrics and the log, but no client data',
  async (t) => {
    const dataDir = await temporaryFolder(t);
    const cwd = await temporaryFolder(t);
    const env = {
      SCENEPRESS_MASTER_KEY: MASTER_KEY,
      SCENEPRESS_LOG_FILE: join(cwd, 'service.log'),
    };
    const run = (...args: string[]) => scenepress([...args, '--data-dir', dataDir], { env, cwd });
    await run('account', 'create', EMAIL);
    const minted = await run('key', 'create', '--account', EMAIL, '--name', 'Studio-of-Ada', '--json');
    const { key, webhookSecret } = JSON.parse(minted.stdout) as { key: string; webhookSecret: string };
    const { port } = await serve(t, ['--data-dir', dataDir], { env, cwd, logFile: env.SCENEPRESS_LOG_FILE });
    const ask = (path: string, method = 'GET', body = '') =>
      send(port, path, { method, body, headers: { authorization: `Bearer ${key}` } });
    const body = {
      code: 'print("the scene itself")',
      className: 'MyOwnScene',
      metadata: { title: 'the metadata' },
    };
    const { jobId } = (await ask('/api/v2/render', 'POST', JSON.stringify(body))).json;
    await ask(`/api/v2/render/${jobId}`);
    const url = 'https://me:pass-word@render.example.org';
    const bundle = ['support-bundle', 'bundle.tar.gz', '--no-doctor', '--json', '--public-url', url];
    const made = await run(...bundle);
    t.equal(made.code, 0, made.stderr);
    t.match(JSON.parse(made.stdout), { file: join(cwd, 'bundle.tar.gz'), sizeBytes: Number });
    t.equal((await stat(join(cwd, 'bundle.tar.gz'))).mode & 0o777, 0o600);
    const files = await unpacked(join(cwd, 'bundle.tar.gz'));
    t.strictSame(
      Object.keys(files).sort(),
      ['README.txt', 'config.json', 'log.jsonl', 'metrics.txt', 'service.json', 'versions.json'].map(
        (name) => `bundle/${name}`,
      ),
    );
    t.match(JSON.parse(files['bundle/versions.json'] as string), { scenepress: VERSION });
    t.match(JSON.parse(files['bundle/service.json'] as string), { served: true, accounts: 1, keys: 1 });
    t.match(files['bundle/log.jsonl'], /"msg":"request"/);
    t.match(files['bundle/config.json'], /"value": "\(hidden\)"/);

    const everything = Object.values(files).join('\n');
    const secrets = [
      key,
      key.slice(9, 40),
      webhookSecret,
      MASTER_KEY,
      EMAIL,
      'pass-word',
      String(jobId),
      'Studio-of-Ada',
    ];
    for (const secret of [...secrets, 'the scene itself', 'MyOwnScene', 'the metadata']) {
      t.notOk(everything.includes(secret), `${secret} is not in it`);
    }
  },
);

t.test('without a server it contains less, and a log that the user names', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(
    join(cwd, 'log'),
    'not JSON svc_live_abc\n{"level":30,"msg":"hello","renderer":"x","key":"k"}\n',
  );
  const args = ['support-bundle', 'b.tgz', '--no-doctor', '--data-dir', join(cwd, 'data'), '--log', 'log'];
  const { code, stdout } = await scenepress(args, { cwd });
  t.equal(code, 0);
  t.match(stdout, /b\.tgz \(.*\): versions\.json, config\.json, service\.json, log\.jsonl\.\nReview it/);
  const files = await unpacked(join(cwd, 'b.tgz'));
  t.equal(files['b/log.jsonl'], '{"level":30,"msg":"hello"}\n');
  const again = await scenepress(args, { cwd });
  t.match(again, { code: 1, stderr: /can't be written: EEXIST/ });
});

t.test('credentials and personal data are redacted anywhere in the text', async (t) => {
  t.equal(redact(`Bearer svc_live_${'a'.repeat(48)}`), 'Bearer …');
  t.equal(redact(`"svc_live_${'a'.repeat(48)}","whsec_${'b'.repeat(48)}"`), '"svc_live_…","whsec_…"');
  t.equal(
    redact(`/artifacts/${'0123456789abcdef'.repeat(3)}/video.mp4`),
    '/artifacts/0123456789abcdef…/video.mp4',
  );
  t.equal(redact('ada.l@example.org https://u:p@host/x'), '…@… https://…@…/x');
  t.equal(redactLogLine('[1]'), '{}');
  t.equal(redactLogLine('text'), undefined);
});
