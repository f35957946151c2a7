import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { textLine } from '../../appliance/support/log-text.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { Terminal } from '../fixtures/terminal.ts';
import { serve } from './command.ts';
import { IDLE_PYTHON, send } from './listening-appliance.ts';

const ROOT = join(import.meta.dirname, '../..');
const WIDE = { isColoured: false, columns: 200 };
const TIME = '2026-11-23T07:40:15.803Z';

const lineOf = (record: object, target = WIDE) => textLine(JSON.stringify({ time: TIME, ...record }), target);

t.test('a line has time, level, message and details', async (t) => {
  t.equal(
    lineOf({ level: 30, jobs: 3, part: 'assets', msg: 'Removed.' }),
    '07:40:15Z info  Removed.  jobs=3 part=assets\n',
  );
  t.equal(lineOf({ level: 40, msg: 'Careful.' }), '07:40:15Z warn  Careful.\n');
  const err = { type: 'Error', message: 'no space', stack: 'Error: no space\n    at x.ts:1' };
  t.equal(
    lineOf({ level: 50, err, jobId: 'j1', msg: 'Failed.' }),
    '07:40:15Z error Failed.  (no space) jobId=j1\n',
  );
  t.equal(lineOf({ level: 30, sandbox: { level: 'full' }, msg: 'Safe.' }), '07:40:15Z info  Safe.\n');
});

t.test('logs one line per request', async (t) => {
  const request = { method: 'GET', path: '/api/v2/me', status: 200, ms: 3, requestId: 'r', keyPrefix: 'svc' };
  t.equal(lineOf({ level: 30, ...request, msg: 'request' }), '07:40:15Z info  GET /api/v2/me 200  3 ms\n');
});

t.test('a level has its colour', async (t) => {
  const line = lineOf({ level: 50, reason: 'x', msg: 'Failed.' }, { ...WIDE, isColoured: true });
  t.equal(line, '\x1b[90m07:40:15Z\x1b[39m \x1b[31merror\x1b[39m Failed.  \x1b[90mreason=x\x1b[39m\n');
});

t.test('details are cut to the width of the terminal, but not those of warnings', async (t) => {
  const narrow = { ...WIDE, columns: 40 };
  const details = { folder: '/var/lib/scenepress/data' };
  const info = lineOf({ level: 30, ...details, msg: 'There is space.' }, narrow);
  t.equal(info, '07:40:15Z info  There is space.  folder…\n');
  t.equal(info.trimEnd().length, 40);
  const warn = lineOf({ level: 40, ...details, msg: 'There is no space.' }, narrow);
  t.equal(warn, '07:40:15Z warn  There is no space.  folder=/var/lib/scenepress/data\n');
});

t.test('control characters and line breaks are removed', async (t) => {
  const hostile = '\x1b[2J\n07:40:15Z info  forged\x07';
  for (const record of [
    { level: 30, renderer: hostile, msg: 'Said.' },
    { level: 50, err: { message: hostile }, msg: hostile },
    { level: 30, method: 'GET', path: hostile, status: 404, ms: 1, msg: 'request' },
  ]) {
    t.match(lineOf(record), /^[^\p{C}]+\n$/u);
  }
});

async function serveInTerminal(t: Test, env: Record<string, string> = {}): Promise<Terminal> {
  const own = {
    PATH: process.env['PATH'],
    TERM: 'xterm-256color',
    SCENEPRESS_PYTHON: IDLE_PYTHON,
    SCENEPRESS_INSECURE_NO_SANDBOX: 'true',
    SCENEPRESS_WORKERS: '1',
    SCENEPRESS_PORT: '0',
  };
  const command = [process.execPath, 'appliance/main.ts', 'serve', '--data-dir', await temporaryFolder(t)];
  const terminal = new Terminal(t, command, { env: { ...own, ...env }, cwd: ROOT });
  await terminal.shows(/ready/);
  const [, port] = await terminal.shows(/listens on \S+:(\d+)/);
  await send(Number(port), '/hello', {});
  await terminal.shows(/\/hello/);
  terminal.pressCtrlC();
  t.equal(await terminal.ended, 0);
  return terminal;
}

t.test('a terminal shows lines for people', async (t) => {
  const { shown } = await serveInTerminal(t);
  const visible = shown.replaceAll('\x1b', '^');
  t.match(visible, /\^\[32minfo \^\[39m GET \/hello 404 {2}\^\[90m\d+ ms\^\[39m\r\n/);
  t.match(visible, /\^\[33mwarn \^\[39m .*sandbox/);
  t.notMatch(shown, '{"level"');
});

t.test('colours can be switched off', async (t) => {
  const { shown } = await serveInTerminal(t, { NO_COLOR: '1' });
  t.match(shown, /^\d\d:\d\d:\d\dZ info {2}GET \/hello 404 {2}\d+ ms\r$/m);
  t.notMatch(shown, '\x1b[');
});

t.test('--log-format forces JSON lines on a terminal, and text elsewhere', async (t) => {
  const { shown } = await serveInTerminal(t, { SCENEPRESS_LOG_FORMAT: 'json' });
  t.match(shown, /^\{"level":30,.*"path":"\/hello".*"msg":"request"\}\r$/m);

  const folder = await temporaryFolder(t);
  const logFile = join(folder, 'log');
  const args = ['--data-dir', join(folder, 'data'), '--log-file', logFile, '--log-format', 'text'];
  const { kill, ended } = await serve(t, args, { logFile });
  kill('SIGTERM');
  t.equal(await ended, 0);
  t.match(readFileSync(logFile, 'utf8'), /^\d\d:\d\d:\d\dZ info {2}stopped$/m);
  t.notMatch(readFileSync(logFile, 'utf8'), '{');
});
