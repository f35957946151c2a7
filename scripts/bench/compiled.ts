import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PROJECT = join(import.meta.dirname, '../..');
const COMPILED = join(PROJECT, 'build/bench');
/** Folders that programs find from their own location. */
const LINKED = ['renderer', 'test/appliance/idle-renderer', 'scripts/bench/node_modules'];

let isCompiled = false;

/**
 * The path of a program of this folder, compiled together with the service. In a process that runs TypeScript, Node's
 * type stripper takes 50 MiB; what is published is compiled.
 */
export function compiled(program: `${string}.ts`): string {
  if (!isCompiled) compile();
  isCompiled = true;
  return join(COMPILED, 'scripts/bench', program.replace(/ts$/, 'js'));
}

function compile(): void {
  rmSync(COMPILED, { recursive: true, force: true });
  const compiler = join(PROJECT, 'node_modules/typescript/bin/tsc');
  const config = join(import.meta.dirname, 'tsconfig.json');
  execFileSync(process.execPath, [compiler, '--project', config], { stdio: 'inherit' });
  for (const name of LINKED) {
    mkdirSync(dirname(join(COMPILED, name)), { recursive: true });
    symlinkSync(join(PROJECT, name), join(COMPILED, name));
  }
}
