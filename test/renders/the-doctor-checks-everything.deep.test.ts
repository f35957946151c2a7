import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { scenepress, serve } from '../appliance/command.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { silentWav } from '../fixtures/wav.ts';

interface Finding {
  check: string;
  status: string;
  message: string;
  remedy?: string;
}

/** Runs the doctor. `of` has its findings by check, the last one of several. */
async function doctor(args: string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await scenepress(['doctor', '--json', ...args], { env, renders: true });
  if (stdout === '') throw new Error(stderr);
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
  return { code, ok, findings, of: Object.fromEntries(findings.map((finding) => [finding.check, finding])) };
}

const RENDERS = ['Text', 'TeX', '3D', 'Sound', 'Captions', 'Fonts'];

t.test('before the first start, the doctor runs all checks and creates nothing', async (t) => {
  const folder = await temporaryFolder(t);
  const { code, ok, findings, of } = await doctor(['--data-dir', join(folder, 'data'), '--port', '0']);
  t.same(
    findings.filter(({ status }) => status === 'failed'),
    [],
  );
  t.match({ code, ok }, { code: 0, ok: true });
  for (const check of RENDERS) t.match(of[check], { status: 'ok', message: /^rendered in \d/ });
  t.match(of, {
    Renderer: { message: /^Manim \d/ },
    Sandbox: { status: /ok|warning/, message: /blocked the self-attack/ },
    Limits: {
      status: 'ok',
      message: /2048 MiB of memory; memory is (limited by the kernel|checked five times)/,
    },
    Data: { message: /contains no data yet/ },
    Clock: { status: 'ok' },
  });
  for (const check of ['Cores', 'Memory', 'Disk']) t.ok(of[check], check);
  t.same(await readdir(folder), []);
});

t.test('speech is tried if it is configured', async (t) => {
  const args = ['--data-dir', join(await temporaryFolder(t), 'data'), '--port', '0'];
  const tried = async (script: string) => {
    const speech = { SCENEPRESS_SPEECH_COMMAND: `sh -c "${script}"` };
    const { of } = await doctor(args, speech);
    return of['Speech'];
  };
  const speaking = `grep -q doctor && echo ${silentWav(1).toString('base64')} | base64 -d`;
  t.match(await tried(speaking), { status: 'ok', message: /^rendered in \d/ });
  t.match(await tried('exit 7'), {
    status: 'failed',
    message: /the speech command ended with exit code 7/,
    remedy: /^Correct SCENEPRESS_SPEECH_COMMAND/,
  });
});

t.test('with a server, the doctor queries it, and two doctors can run concurrently', async (t) => {
  const dataDir = await temporaryFolder(t);
  const server = await serve(t, ['--data-dir', dataDir]);
  const args = ['--data-dir', dataDir, '--port', String(server.port)];
  for (const { ok, findings, of } of await Promise.all([doctor(args), doctor(args)])) {
    t.ok(ok, JSON.stringify(findings));
    t.match(of, {
      Service: { status: 'ok', message: /ready/ },
      Books: { status: 'ok' },
      Data: { status: 'ok', message: /can be read/ },
      Artifacts: { status: 'ok' },
      Port: { status: 'ok', message: /used by the service of this data folder/ },
    });
  }
  const other = await doctor(['--data-dir', join(dataDir, 'other'), '--port', String(server.port)]);
  t.match(other.of['Port'], { status: 'failed', message: /another data folder/ });
  const artifacts = join(dataDir, 'artifacts');
  await rename(artifacts, `${artifacts}.away`);
  await writeFile(artifacts, '');
  const broken = await doctor(args);
  t.match(broken, {
    code: 1,
    of: { Artifacts: { status: 'failed', message: /can't be stored: E\w+/, remedy: /mount/ } },
  });
  await rm(artifacts);
  await rename(`${artifacts}.away`, artifacts);
  server.kill('SIGTERM');
  t.equal(await server.ended, 0);
  const after = await doctor(args);
  t.match(after.of, { Data: { status: 'ok' }, Books: { status: 'ok' }, Port: { message: /is free/ } });
  t.notOk(after.of['Service']);
});

t.test('problems are reported with a remedy, and the exit code is 1', async (t) => {
  const folder = await temporaryFolder(t);
  const dataDir = join(folder, 'data');
  const authority = new TestAuthority(folder);
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  await writeFile(cert, authority.issue(['a']).cert);
  await writeFile(key, authority.issue(['a']).key);
  const { kill, ended } = await serve(t, ['--data-dir', dataDir]);
  kill('SIGTERM');
  await ended;
  const database = join(dataDir, 'database.sqlite');
  await writeFile(database, (await readFile(database)).fill(0, 0, 16));
  const occupant = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  await new Promise((resolve) => occupant.once('listening', resolve));
  t.teardown(() => occupant.close());
  const { port } = occupant.address() as { port: number };

  const tls = ['--tls-cert', cert, '--tls-key', key];
  const broken = ['--python', join(folder, 'python'), '--workers', '100'];
  const args = ['--data-dir', dataDir, '--port', String(port), ...tls, ...broken];
  const { code, ok, findings, of } = await doctor(args);
  t.match({ code, ok }, { code: 1, ok: false });
  t.match(of, {
    Data: { status: 'failed', message: /damaged/, remedy: /restore/ },
    Port: { status: 'failed', message: /used by another program/, remedy: /--port/ },
    Certificate: { status: 'failed', message: /belongs to another certificate/, remedy: /--tls-cert/ },
    Renderer: { status: 'failed', message: /no Python environment/, remedy: /--python/ },
    Cores: { status: 'warning', remedy: /--workers/ },
  });
  t.notOk(of['Text'], 'nothing is rendered without a renderer');
  for (const { status, remedy } of findings) t.equal(status === 'ok', remedy === undefined);
  t.notOk(existsSync(join(dataDir, 'lock.holder')));

  const shown = await scenepress(['doctor', ...args], { renders: true });
  t.equal(shown.code, 1);
  t.match(
    shown.stdout,
    /^FAILED {4}Port {8}127\.0\.0\.1:\d+ is used by another program\n {22}→ Stop that program/m,
  );
});
