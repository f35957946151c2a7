// Types, lint and format of both languages; `npm run check` runs only this file.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../..');
const renderer = join(root, 'renderer');
const bin = join(root, 'node_modules/.bin');
const python = join(root, '.venv/bin/python');
const pythonSources = ['.', '../test/renderer', '../scripts/test', '../scripts/skill'];
const benchmarks = ['compare', 'encode', 'materials', 'measure', 'quality', 'sample'].map(
  (name) => `../scripts/bench/${name}.py`,
);

const checks: [name: string, cwd: string, command: string, ...args: string[]][] = [
  ['TypeScript types', root, join(bin, 'tsc')],
  ['TypeScript types of browser code', root, join(bin, 'tsc'), '-p', 'appliance/dashboard/client'],
  ['TypeScript lint and format', root, join(bin, 'biome'), 'check', '--error-on-warnings'],
  ['Python lint', renderer, python, '-m', 'ruff', 'check', ...pythonSources],
  ['Python format', renderer, python, '-m', 'ruff', 'format', '--check', ...pythonSources],
  ['Python types', renderer, python, '-m', 'mypy', '--strict', ...pythonSources, ...benchmarks],
];

for (const [name, cwd, command, ...args] of checks) {
  t.test(name, async (t) => {
    // NODE_OPTIONS loads tap, which breaks tsc.
    const { status, stdout, stderr, error } = spawnSync('env', ['-u', 'NODE_OPTIONS', command, ...args], {
      cwd,
      encoding: 'utf8',
    });
    if (status !== 0) t.comment(stdout + stderr + (error ?? ''));
    t.equal(status, 0, 'there are no findings');
  });
}
