import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { scenepress } from '../appliance/command.ts';
import { send } from '../appliance/listening-appliance.ts';
import { oneOf } from '../fixtures/depth.ts';
import { ended, processesBelow, zygotesBelow } from '../fixtures/processes.ts';
import { afterOneFrame, ENDLESS } from '../fixtures/renders.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { Terminal } from '../fixtures/terminal.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const MAIN = join(ROOT, 'appliance', 'main.ts');
/** Longer than the interval within which two signals count as one. */
const LATER_MS = 1_100;
const STARTS: Record<string, { command: string[]; exitCode: number }> = {
  'npm start': { command: ['npm', 'start'], exitCode: 0 },
  // npx runs the service in a shell, which also gets the SIGINT and ends by it.
  'npx scenepress serve': { command: ['npx', 'scenepress', 'serve'], exitCode: 130 },
};
const OWN_VARIABLES = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(SCENEPRESS_|TAP|NODE_OPTIONS)/.test(name)),
);

async function start(t: Test, command: string[]) {
  const dataDir = await temporaryFolder(t);
  const logFile = join(await temporaryFolder(t), 'log');
  const env = {
    ...OWN_VARIABLES,
    SCENEPRESS_DATA_DIR: dataDir,
    SCENEPRESS_PORT: '0',
    SCENEPRESS_WORKERS: '1',
    SCENEPRESS_LOG_FILE: logFile,
  };
  return { terminal: new Terminal(t, command, { env, cwd: ROOT }), dataDir, logFile };
}

async function serveIn(t: Test, command: string[]) {
  const { terminal, dataDir, logFile } = await start(t, command);
  const [, port] = await terminal.shows(/listens on http:\/\/127\.0\.0\.1:(\d+)/);
  const [key] = await terminal.shows(/svc_live_[0-9a-f]{48}/);
  const headers = { authorization: `Bearer ${key}` };
  const ask = async (path: string, body?: object) => {
    const request = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
    return (await send(Number(port), path, request)).json;
  };
  /** Enqueues a job and resolves when it is running. */
  const draw = async (code: string): Promise<string> => {
    const { jobId } = await ask('/api/v2/render', { code, className: 'Main', quality: 'low' });
    for (let state: unknown; state !== 'running'; await delay(20)) {
      state = (await ask(`/api/v2/render/${jobId}`))['status'];
    }
    return String(jobId);
  };
  return { terminal, draw, dataDir, logFile };
}

for (const [name, { command, exitCode }] of oneOf(2, Object.entries(STARTS))) {
  t.test(`${name}: Ctrl-C lets the running render finish and prints that`, async (t) => {
    const { terminal, draw, dataDir, logFile } = await serveIn(t, command);
    const below = processesBelow(terminal.pid);
    const jobId = await draw(afterOneFrame('time.sleep(3)'));
    terminal.pressCtrlC();
    await terminal.shows(
      /Stopping: waiting up to 30 s for 1 running render\. Press Ctrl-C again to stop immediately\./,
    );
    t.equal(await terminal.ended, exitCode);
    t.match(await readFile(logFile, 'utf8'), '"msg":"stopped"');
    await ended(below);
    const { stdout } = await scenepress(['job', 'show', jobId, '--json', '--data-dir', dataDir]);
    t.match(JSON.parse(stdout), { status: 'completed', attempts: 1 });
  });
}

t.test('npm start: a second, later Ctrl-C ends the service immediately', async (t) => {
  const { terminal, draw } = await serveIn(t, ['npm', 'start']);
  await draw(ENDLESS);
  const below = processesBelow(terminal.pid);
  terminal.pressCtrlC();
  await terminal.shows(/Stopping: waiting up to 30 s/);
  await delay(LATER_MS);
  terminal.pressCtrlC();
  t.equal(await terminal.ended, 130);
  await ended(below);
});

t.test('npm start: Ctrl-C during the start aborts it', async (t) => {
  const { terminal, logFile } = await start(t, ['npm', 'start']);
  while (zygotesBelow(terminal.pid).length === 0) await delay(20);
  const below = processesBelow(terminal.pid);
  terminal.pressCtrlC();
  t.equal(await terminal.ended, 0);
  await ended(below);
  t.match(await readFile(logFile, 'utf8'), /"signal":"SIGINT".*"msg":"stopped during start"/);
  t.notMatch(await readFile(logFile, 'utf8'), /"level":(4|5)0/, 'nothing failed');
});

for (const when of oneOf(2, ['while it warms up', 'while it renders'])) {
  t.test(`render: Ctrl-C ${when} cancels the render and leaves no files`, async (t) => {
    const [cwd, TMPDIR] = [await temporaryFolder(t), await temporaryFolder(t)];
    await writeFile(join(cwd, 'endless.py'), ENDLESS);
    const command = [process.execPath, MAIN, 'render', 'endless.py', '-ql', '--keep-warm', '0'];
    const terminal = new Terminal(t, command, { env: { ...OWN_VARIABLES, TMPDIR }, cwd });
    while (zygotesBelow(terminal.pid).length === 0) await delay(20);
    if (when === 'while it renders') await terminal.shows(/1 frame/);
    const below = processesBelow(terminal.pid);
    terminal.pressCtrlC();
    t.equal(await terminal.ended, 130);
    t.match(terminal.shown, /scenepress: Interrupted\./);
    await ended(below);
    t.same(await readdir(cwd), ['endless.py']);
    t.same(await readdir(TMPDIR), []);
  });
}

t.test('doctor: Ctrl-C ends the command', async (t) => {
  const command = [process.execPath, MAIN, 'doctor', '--data-dir', join(await temporaryFolder(t), 'data')];
  const terminal = new Terminal(t, command, { env: OWN_VARIABLES, cwd: ROOT });
  await terminal.shows(/Sandbox/);
  const below = processesBelow(terminal.pid);
  terminal.pressCtrlC();
  t.equal(await terminal.ended, 130);
  await ended(below);
  t.notMatch(terminal.shown, /FAILED/);
});
