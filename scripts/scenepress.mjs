#!/usr/bin/env node
// The `scenepress` command. Runs the sources in a checkout, and the build in an installed package.
// It may be started with any Node, so old versions must be able to parse it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'appliance', 'main.ts');
const main = existsSync(source) ? source : join(root, 'dist', 'appliance', 'main.js');
const ownNode = join(root, 'node_modules', '.bin', 'node');
// Node runs TypeScript since 24; the build needs what lib/base/node-version.ts says.
const [oldestMajor, oldestMinor] = main === source ? [24, 0] : [22, 16];
const [major, minor] = process.versions.node.split('.').map(Number);

if (process.argv[2] === 'setup') {
  const setup = await import('./setup.mjs');
  await setup.main(process.argv.slice(3));
} else if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) {
  process.argv[1] = main;
  await import(pathToFileURL(main).href).catch((error) => {
    // For example after `git pull`, if a new dependency isn't installed yet.
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || main !== source) throw error;
    console.error(`The setup of Scenepress is incomplete: ${error.message}. Run: node scripts/setup.mjs`);
    process.exitCode = 1;
  });
} else if (existsSync(ownNode)) {
  runOn(ownNode);
} else {
  console.error(
    existsSync(source)
      ? 'Scenepress is not set up yet. Run: node scripts/setup.mjs'
      : `Scenepress needs Node 22.16 or newer; this is ${process.version}. For this project: npm install node@24`,
  );
  process.exitCode = 1;
}

function runOn(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both processes; the program treats two signals in quick succession as one.
  process.on('SIGINT', () => child.kill('SIGINT'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGHUP', () => child.kill('SIGHUP'));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
