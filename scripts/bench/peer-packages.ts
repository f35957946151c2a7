import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = import.meta.dirname;
const LOCK = join(FOLDER, 'package-lock.json');
/** Copy of the lock that the installed packages come from. */
const INSTALLED_LOCK = join(FOLDER, 'node_modules/.installed-lock.json');

/** The parts of BullMQ in use. */
export interface BullMq {
  Queue: new (
    name: string,
    options: { connection: { path: string } },
  ) => { add: (name: string, data: unknown) => Promise<unknown> };
}

/** The parts of pg-boss in use. */
export interface PgBoss {
  default: new (options: {
    host: string;
    user: string;
    database: string;
    max: number;
  }) => {
    start: () => Promise<unknown>;
    createQueue: (name: string) => Promise<unknown>;
    send: (queue: string, data: unknown) => Promise<unknown>;
  };
}

/** Installs the packages of this folder unless they are up to date. */
export function installPeerPackages(): void {
  if (existsSync(INSTALLED_LOCK) && readFileSync(INSTALLED_LOCK).equals(readFileSync(LOCK))) return;
  console.log('Installing BullMQ and pg-boss …');
  // --prefix: `npm run` sets the variables that select the folder of this project.
  const args = ['ci', '--prefix', FOLDER, '--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', args, { cwd: FOLDER, stdio: ['ignore', 'ignore', 'inherit'] });
  copyFileSync(LOCK, INSTALLED_LOCK);
}

/**
 * Imports a package of this folder. Its name is not a literal, because types are also checked where these packages
 * aren't installed.
 */
export async function importPeer(name: 'bullmq'): Promise<BullMq>;
export async function importPeer(name: 'pg-boss'): Promise<PgBoss>;
export async function importPeer(name: string): Promise<unknown> {
  return import(name);
}
