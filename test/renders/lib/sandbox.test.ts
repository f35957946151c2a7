import { spawnSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative } from 'node:path';
import t from 'tap';
import { findLauncher, uidOf, zygoteCommandLine } from '../../../lib/render/start/launcher.ts';
import { render, scene, startService } from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

t.test('bubblewrap alone hides files, network and processes, and has no devices', async (t) => {
  const launcher = await findLauncher({});
  t.equal(launcher.isolation, 'bubblewrap', launcher.isolationProblem ?? 'bubblewrap starts');
  const folder = testFolder(t, { secret: 'secret', work: {} });
  const server = createServer().listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const line = zygoteCommandLine(launcher, {
    index: 0,
    workFolder: join(folder, 'work'),
    role: 'landscape',
    cgroup: false,
  });
  const python = line.args.indexOf('-m') - 4;
  const script = `
import os, socket
uid = ${uidOf(launcher, 0) ?? 'os.getuid()'}
if uid != os.getuid(): os.setgroups([]), os.setgid(uid), os.setuid(uid)
through = []
def attempt(name, call, *values):
    try: call(*values)
    except OSError: return
    through.append(name)
attempt('secret', open, ${JSON.stringify(join(folder, 'secret'))})
attempt('passwd', open, '/etc/passwd')
attempt('home', os.listdir, '/home')
attempt('network', socket.create_connection, ('127.0.0.1', ${port}), 1)
attempt('root', open, '/pwned', 'w')
attempt('system', open, '/usr/pwned', 'w')
attempt('zero', open, '/dev/zero')
attempt('settings', os.open, '/proc/sys/kernel/core_pattern', os.O_WRONLY)
print(through, sorted(os.listdir('/dev')), os.getpid())
`;
  const args = [...line.args.slice(0, python + 1), '-c', script];
  const { stdout, stderr } = spawnSync(line.command, args, { env: line.env, encoding: 'utf8' });
  t.equal(stdout, "[] ['null', 'shm', 'urandom'] 1\n", stderr);
});

t.test('the status has the level, the layers and no problems', async (t) => {
  const service = await startService(t, { workers: 1 });
  const { level, layers, limits, problems: { cgroup, ...problems } = {} } = service.status().sandbox ?? {};
  t.same(
    { level, layers, problems },
    {
      level: limits?.memory === 'kernel' ? 'full' : 'watched',
      layers: ['bubblewrap', 'namespaces', 'landlock', 'seccomp'],
      problems: {},
    },
  );
  t.equal(
    limits?.memory === 'watch',
    typeof cgroup === 'string',
    'memory is limited by a watch or by the kernel',
  );
  t.match(limits, { processes: 'kernel', disk: 'kernel' });
  await service.stop();
  t.equal(service.status().sandbox, null);
});

const asRoot = { skip: process.getuid?.() === 0 ? false : 'only root renders as other users' };
t.test(
  'as root without bubblewrap, renders can enter the data folder but read only what they need',
  asRoot,
  async (t) => {
    const folder = join(testFolder(t), 'data');
    const { PATH } = process.env;
    process.env['PATH'] = '/nowhere';
    t.teardown(() => {
      process.env['PATH'] = PATH;
    });
    const service = await startService(t, { folder, workers: 1 });
    t.match(service.status().sandbox, { level: 'reduced', problems: { bubblewrap: /not installed/ } });
    writeFileSync(join(folder, 'master.key'), 'secret', { mode: 0o600 });
    writeFileSync(join(folder, 'python/studio_helpers.py'), 'SIDE = 2\n', { mode: 0o600 });
    const code = scene(
      'import studio_helpers',
      `try: raise ValueError(open(${JSON.stringify(join(folder, 'master.key'))}).read())`,
      'except OSError: pass',
      'self.add(Square(studio_helpers.SIDE))',
      'self.wait(0.2)',
    );
    t.match(await render(service, { code }), { status: 'completed', error: null });
    for (const { name, parentPath } of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = relative(folder, join(parentPath, name));
      if (path.startsWith('work/w0/')) continue; // In a folder that only its user can enter.
      const others = statSync(join(folder, path)).mode & 0o077;
      if (/^(fonts|python|assets|texmf)(\/|$)/.test(path))
        t.equal(others & 0o022, 0, `${path} is readable by everyone`);
      else t.equal(others, path === 'work' ? 0o011 : 0, `${path} is private to the service`);
    }
  },
);
