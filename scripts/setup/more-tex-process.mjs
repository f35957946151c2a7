// Installs the TeX packages that a start has left for later, for a service that starts this as a process and receives its
// messages: `{ phase, detail }` while it works, `{ problem }` at a failure. It exits with 0 if all are there.
import { spawnSync } from 'node:child_process';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBeingInstalled } from './apt.mjs';
import { SetupError } from './failures.mjs';
import { nativeLibraries, preparedTex } from './python-environment.mjs';
import { openRun } from './run.mjs';
import { takeSteps } from './step.mjs';
import { lacksMoreTex, moreTexPackages } from './system-packages.mjs';

const INTERVAL_MS = 1000;
const LOWEST_PRIORITY = 19;
const IDLE_CLASS = '3';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const folder = join(root, '.setup');
let phase = 'waiting';

const send = (message) =>
  new Promise((settle) => (process.connected ? process.send(message, settle) : settle()));

function enter(next) {
  phase = next;
  void send({ phase, detail: '' });
}

// The service has ended. What dpkg has begun must not be left half done.
process.on('disconnect', () => {
  if (phase !== 'installing') process.kill(-process.pid, 'SIGKILL');
});

const progress = {
  // Another setup may be the one that an earlier service has begun.
  say: () => enter(isBeingInstalled(folder) ? 'installing' : 'waiting'),
  begin(_title, detail) {
    const timer = setInterval(() => void send({ phase, detail: detail() }), INTERVAL_MS);
    return () => clearInterval(timer);
  },
};

if (lacksMoreTex()) {
  enter('waiting');
  setPriority(LOWEST_PRIORITY);
  spawnSync('ionice', ['--class', IDLE_CLASS, '--pid', String(process.pid)], { stdio: 'ignore' });
  process.umask(0o022);
  try {
    const venv = join(root, '.venv');
    const packages = moreTexPackages({
      folder,
      onDownload: () => enter('downloading'),
      onInstall: () => enter('installing'),
      onInstalled: () => enter('preparing'),
    });
    const isBuilt = nativeLibraries(root, venv).isDone();
    const steps = isBuilt ? [packages, preparedTex(root, venv, [packages])] : [packages];
    await takeSteps(steps, openRun(folder, { cwd: root, progress }));
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    await send({ problem: error.message });
    process.exit(1);
  }
}
process.exit(0);
