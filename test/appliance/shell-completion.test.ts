import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress } from './command.ts';

const printed = new Map<string, Promise<string>>();

/** What the program prints for a shell. */
async function scriptFor(t: Test, shell: string): Promise<string> {
  const { code, stdout } = await scenepress(['completion', shell]);
  t.equal(code, 0);
  return stdout;
}

/** Runs a shell script beside the file `completion`, printed by the program for that shell. Returns lines. */
async function complete(t: Test, shell: string, script: string): Promise<string[]> {
  const folder = await temporaryFolder(t);
  const completion = printed.get(shell) ?? scriptFor(t, shell);
  printed.set(shell, completion);
  await writeFile(join(folder, 'completion'), await completion);
  await writeFile(join(folder, 'scene.py'), '');
  const options = { cwd: folder, encoding: 'utf8', env: { ...process.env, HOME: folder } } as const;
  const ended = spawnSync(shell, [...(shell === 'bash' ? ['--norc'] : []), '-c', script], options);
  t.equal(ended.stderr, '');
  return ended.stdout.trim().split('\n');
}

/** The completions of bash after these words, the last of which is incomplete. */
function afterInBash(t: Test, ...words: string[]): Promise<string[]> {
  const line = words.map((word) => `'${word}'`).join(' ');
  return complete(
    t,
    'bash',
    `source ./completion; COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _scenepress; printf '%s\\n' "\${COMPREPLY[@]}"`,
  );
}

t.test('bash completes commands, options, their values and files', async (t) => {
  t.strictSame(await afterInBash(t, 'scenepress', 'que'), ['queue']);
  t.strictSame(await afterInBash(t, 'scenepress', 'queue', ''), ['show', 'pause', 'resume']);
  t.strictSame(await afterInBash(t, 'scenepress', 'job', 'list', '--stat'), ['--status']);
  t.strictSame(await afterInBash(t, 'scenepress', 'job', 'list', '--status', 'c'), ['completed']);
  t.strictSame(await afterInBash(t, 'scenepress', 'render', 'sc'), ['scene.py']);
  t.strictSame(await afterInBash(t, 'scenepress', '--config', 'x', 'render', '--asp'), ['--aspect']);
  t.strictSame(await afterInBash(t, 'scenepress', 'check', '--ser'), ['--server']);
  t.strictSame(await afterInBash(t, 'scenepress', 'account', 'li'), ['list', 'link']);
});

t.test('bash completes the words of commands that have a schema', async (t) => {
  t.strictSame(await afterInBash(t, 'scenepress', 'schema', 'que'), ['queue']);
  t.strictSame(await afterInBash(t, 'scenepress', 'schema', 'queue', ''), ['show', 'pause', 'resume']);
  t.strictSame(await afterInBash(t, 'scenepress', 'schema', 'ins'), ['inspect', 'installation']);
  t.strictSame(await afterInBash(t, 'scenepress', 'schema', 'serv'), [''], 'it has none');
  t.strictSame(await afterInBash(t, 'scenepress', 'schema', 'queue', 'show', '--j'), ['--json']);
});

const missing = (shell: string) =>
  spawnSync(shell, ['--version']).error !== undefined && `there is no ${shell}`;

t.test('fish completes commands, option values and files', { skip: missing('fish') }, async (t) => {
  const after = (line: string) =>
    complete(t, 'fish', `source ./completion; complete -C '${line}' | string split -f1 \\t`);
  t.strictSame(await after('scenepress que'), ['queue']);
  t.strictSame((await after('scenepress queue ')).sort(), ['pause', 'resume', 'show']);
  t.strictSame(await after('scenepress job list --status c'), ['completed']);
  t.ok((await after('scenepress render sc')).includes('scene.py'));
  t.strictSame((await after('scenepress schema queue ')).sort(), ['pause', 'resume', 'show']);
});

t.test('zsh loads the completion', { skip: missing('zsh') }, async (t) => {
  const script = 'autoload -U compinit; compinit -D -u; source ./completion; print $_comps[scenepress]';
  t.strictSame(await complete(t, 'zsh', script), ['_scenepress']);
});

t.test('an unsupported shell is incorrect usage', async (t) => {
  const { code, stderr } = await scenepress(['completion', 'tcsh']);
  t.equal(code, 2);
  t.match(stderr, /bash, zsh, fish/);
});
