import { installPackages } from '../install-packages.ts';

/** The parts of BullMQ in use. */
export interface BullMq {
  Queue: new (
    name: string,
    options: { connection: { path: string } },
  ) => { add: (name: string, data: unknown) => Promise<unknown> };
}

/** The parts of pg-boss in use. */
export interface PgBoss {
  PgBoss: new (options: PgBossOptions) => PgBossInstance;
}

export interface PgBossOptions {
  host: string;
  user: string;
  database: string;
  max: number;
  monitorIntervalSeconds?: number;
  superviseIntervalSeconds?: number;
}

export interface PgBossInstance {
  on: (event: 'error', listener: (error: Error) => void) => unknown;
  start: () => Promise<unknown>;
  stop: (options: { graceful: boolean }) => Promise<void>;
  createQueue: (name: string, options?: { heartbeatSeconds?: number }) => Promise<unknown>;
  send: (queue: string, data: object, options?: object) => Promise<unknown>;
  insert: (queue: string, jobs: object[]) => Promise<unknown>;
  fetch: <Data>(queue: string, options: object) => Promise<{ id: string; data: Data }[]>;
  complete: (queue: string, id: string) => Promise<unknown>;
  work: (queue: string, options: object, handler: () => Promise<unknown>) => Promise<unknown>;
}

/** Installs the packages of this folder unless they are up to date. */
export function installPeerPackages(): void {
  installPackages(import.meta.dirname, 'BullMQ and pg-boss');
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
