// Clients that generators make of the OpenAPI document render with a service.
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

const EXAMPLES = import.meta.dirname;
const bin = (name: string) => join(EXAMPLES, 'node_modules/.bin', name);

installPackages(EXAMPLES, 'the generators of clients');
const appliance = await listeningAppliance(t, { renders: true });

/** A project with the files of an example and the document of the service. */
async function project(t: Test, name: string, { ask }: ListeningAppliance): Promise<string> {
  const folder = await emptyFolder(t);
  await cp(join(EXAMPLES, 'generated', name), folder, { recursive: true });
  await writeFile(join(folder, 'openapi.json'), (await ask('/openapi.json')).bytes);
  return folder;
}

t.test('a client in TypeScript', async (t) => {
  const folder = await project(t, 'typescript', appliance);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await symlink(join(EXAMPLES, 'node_modules'), join(folder, 'node_modules'));
  await runClean([bin('openapi-typescript'), 'openapi.json', '-o', 'api.d.ts'], folder);
  await runClean([bin('tsc')], folder).catch(({ stdout }) => t.fail(stdout));
  const command = [process.execPath, 'main.js', appliance.url, appliance.key];
  const { stdout, stderr } = await runClean(command, folder);
  t.equal(stderr, '');
  t.equal(stdout, 'number\n400 string\ncompleted number undefined {"lesson":7} null\nvideo/mp4\n');
});

t.test('a client in Python', async (t) => {
  const folder = await project(t, 'python', appliance);
  const bin = await pythonEnvironment(join(folder, 'requirements.lock'));
  const python = join(bin, 'python');
  const generate = [python, '-m', 'openapi_python_client', 'generate', '--path', 'openapi.json'];
  await runClean([...generate, '--meta', 'none', '--output-path', 'render_client'], folder, {
    PATH: `${bin}:${process.env['PATH']}`,
  });
  const { stdout } = await runClean([python, 'main.py', appliance.url, appliance.key], folder);
  t.equal(stdout, "400 code is required\ncompleted {'lesson': 7} None\nvideo/mp4\n");
});

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
