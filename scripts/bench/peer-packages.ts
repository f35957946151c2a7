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
