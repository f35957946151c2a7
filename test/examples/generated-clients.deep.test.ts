// Clients that generators make of the OpenAPI documents render with a service.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { installPackages } from '../../scripts/install-packages.ts';
import { type ListeningAppliance, listeningAppliance } from '../appliance/listening-appliance.ts';
import { emptyFolder, runClean } from '../fixtures/packed-package.ts';
import { scene } from '../fixtures/renders.ts';

const EXAMPLES = import.meta.dirname;
const INSTANT_PYTHON = join(EXAMPLES, '../fixtures/instant-renderer/bin/python');
const MYPY = join(EXAMPLES, '../../.venv/bin/mypy');
const TOOLS_DOCUMENT = '/api/tools/v1/openapi.json';
const bin = (name: string) => join(EXAMPLES, 'node_modules/.bin', name);

installPackages(EXAMPLES, 'the generators of clients');
const appliance = await listeningAppliance(t, { renders: true });

/** A project with the files of an example and the document of the service. */
async function project(t: Test, name: string, document: string): Promise<string> {
  const folder = await emptyFolder(t);
  await cp(join(EXAMPLES, 'generated', name), folder, { recursive: true });
  await writeFile(join(folder, 'openapi.json'), (await appliance.ask(document)).bytes);
  return folder;
}

/** Generates a client in TypeScript, checks and runs the example. */
async function runTypeScript(t: Test, folder: string, args: string[]): Promise<string> {
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await symlink(join(EXAMPLES, 'node_modules'), join(folder, 'node_modules'));
  await runClean([bin('openapi-typescript'), 'openapi.json', '-o', 'api.d.ts'], folder);
  await runClean([bin('tsc')], folder).catch(({ stdout }) => t.fail(stdout));
  const { stdout, stderr } = await runClean([process.execPath, 'main.js', ...args], folder);
  t.equal(stderr, '');
  return stdout;
}

/** Generates a client in Python, checks and runs the example. */
async function runPython(
  t: Test,
  folder: string,
  { client, args, options = [] }: { client: string; args: string[]; options?: string[] },
): Promise<string> {
  const bin = await pythonEnvironment(join(EXAMPLES, 'generated/python/requirements.lock'));
  const python = join(bin, 'python');
  const generate = [python, '-m', 'openapi_python_client', 'generate', '--path', 'openapi.json', ...options];
  const generated = await runClean([...generate, '--meta', 'none', '--output-path', client], folder, {
    PATH: `${bin}:${process.env['PATH']}`,
  });
  t.notMatch(generated.stdout + generated.stderr, /warning/i);
  const check = [MYPY, '--strict', '--follow-imports', 'silent', '--python-executable', python, 'main.py'];
  await runClean(check, folder).catch(({ stdout }) => t.fail(stdout));
  return (await runClean([python, 'main.py', ...args], folder)).stdout;
}

t.test('a client in TypeScript', async (t) => {
  const folder = await project(t, 'typescript', '/openapi.json');
  const stdout = await runTypeScript(t, folder, [appliance.url, appliance.key]);
  t.equal(stdout, 'number\n400 string\ncompleted number undefined {"lesson":7} null\nvideo/mp4\n');
});

t.test('a client in Python', async (t) => {
  const folder = await project(t, 'python', '/openapi.json');
  const stdout = await runPython(t, folder, {
    client: 'render_client',
    args: [appliance.url, appliance.key],
  });
  t.equal(stdout, "400 code is required\ncompleted {'lesson': 7} None\nvideo/mp4\n");
});

t.test('a client of the tools API in TypeScript', async (t) => {
  const folder = await project(t, 'tools-typescript', TOOLS_DOCUMENT);
  const scenes = {
    broken: scene('self.play(ShowCreation(Circle()))'),
    mended: scene('self.play(Create(Circle()))'),
    endless: scene('while True: pass'),
  };
  const key = await keyWithCredits(appliance, 'typescript@example.org');
  t.equal(
    await runTypeScript(t, folder, [appliance.url, key, JSON.stringify(scenes)]),
    `check false error 6
several false true
inspect true image/jpeg
still image/png
render completed First {"lesson":7} null
video video/mp4
events id: completed-1
list Second First null
cancel failed canceled
usage 2 1
forget 204 null 0
refused 400 string
`,
  );
});

t.test('a client of the tools API in Python', async (t) => {
  const instant = await listeningAppliance(t, { python: INSTANT_PYTHON, insecureNoSandbox: true });
  const folder = await project(t, 'tools-python', TOOLS_DOCUMENT);
  const scenes = {
    broken: scene('fail: line 4: oh'),
    mended: scene('pass'),
    endless: scene('linger'),
  };
  const key = await keyWithCredits(instant, 'python@example.org');
  const stdout = await runPython(t, folder, {
    client: 'tools_client',
    args: [instant.url, key, JSON.stringify(scenes)],
    options: ['--config', 'config.yaml'],
  });
  t.equal(
    stdout,
    `check False error 4
several False True
inspect True image/jpeg
still image/png True
render completed First {'lesson': 7} None
video video/mp4
events id: completed-1
list Second First None
cancel failed canceled
usage 2 1
forget 204 None 0
refused 400 code must not be empty.
`,
  );
});

/** A key of an account of its own. */
async function keyWithCredits(
  { newKey, installation }: ListeningAppliance,
  account: string,
): Promise<string> {
  const key = await newKey(account);
  await installation.administration.credits.grant({ account, paid: 1_000 });
  return key;
}

/** The programs of an environment with the packages of a lock, which is kept for the next run. */
async function pythonEnvironment(lock: string): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(lock)).digest('hex').slice(0, 16);
  const folder = join(EXAMPLES, `node_modules/.python-${hash}`);
  if (existsSync(folder)) return join(folder, 'bin');
  const run = promisify(execFile);
  const made = await mkdtemp(join(EXAMPLES, 'node_modules/.python-'));
  try {
    await run('python3', ['-m', 'venv', made]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--require-hashes'];
    await run(join(made, 'bin/python'), [...pip, '--requirement', lock]);
    // Scripts of the environment name their folder; modules don't.
    await rename(made, folder);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  return join(folder, 'bin');
}
