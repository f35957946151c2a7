import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RenderRequest } from '../../lib/index.ts';
import { importPeer } from './peer-packages.ts';

export type PeerKind = 'bullmq' | 'pg-boss';
type Add = (request: RenderRequest) => Promise<unknown>;

const IN_FLIGHT = 64;
const QUEUE = 'renders';

/** A common job queue with durable commits. `place`: the socket of its server. */
export async function openPeer(kind: PeerKind, place: string): Promise<Add> {
  if (kind === 'bullmq') {
    const { Queue } = await importPeer('bullmq');
    const queue = new Queue(QUEUE, { connection: { path: place } });
    return (request) => queue.add('render', request);
  }
  const { PgBoss } = await importPeer('pg-boss');
  const boss = new PgBoss({ host: place, user: 'postgres', database: 'postgres', max: IN_FLIGHT });
  await boss.start();
  await boss.createQueue(QUEUE);
  return (request) => boss.send(QUEUE, request);
}

/** The database server of a peer, with its own folder, reachable only over a Unix socket. */
export interface PeerServer {
  place: string;
  stop: () => Promise<void>;
}

/** Starts the server. Resolves with a message that names the missing package if it isn't installed. */
export async function startPeerServer(kind: PeerKind): Promise<PeerServer | string> {
  return kind === 'bullmq' ? startRedis() : startPostgres();
}

async function startRedis(): Promise<PeerServer | string> {
  const program = '/usr/bin/redis-server';
  if (!existsSync(program)) return 'skipped: no Redis here (apt-get install redis-server)';
  const folder = mkdtempSync(join(tmpdir(), 'bench-redis-'));
  const place = join(folder, 'socket');
  const settings = {
    dir: folder,
    port: 0,
    unixsocket: place,
    appendonly: 'yes',
    appendfsync: 'always',
    save: '',
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(program, flags, { stdio: 'ignore' });
  await until(() => existsSync(place), 'Redis');
  return { place, stop: () => end(child, 'SIGTERM', folder) };
}

async function startPostgres(): Promise<PeerServer | string> {
  const home = '/usr/lib/postgresql';
  const version = existsSync(home) ? readdirSync(home).sort().at(-1) : undefined;
  if (version === undefined) return 'skipped: no Postgres here (apt-get install postgresql)';
  const bin = join(home, version, 'bin');
  const folder = mkdtempSync(join(tmpdir(), 'bench-postgres-'));
  const data = join(folder, 'data');
  mkdirSync(data);
  // Postgres refuses to run as root.
  const user = process.getuid?.() === 0 ? idsOf('postgres') : undefined;
  if (user) for (const path of [folder, data]) chownSync(path, user.uid, user.gid);
  const text = ['--encoding=UTF8', '--locale=C.UTF-8'];
  const initialise = ['--pgdata', data, '--username', 'postgres', '--auth', 'trust', ...text];
  execFileSync(join(bin, 'initdb'), initialise, { ...user, cwd: folder, stdio: 'ignore' });
  const settings = ['fsync=on', 'synchronous_commit=on', 'listen_addresses=', 'max_connections=100'];
  const flags = ['-D', data, '-k', folder, ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawn(join(bin, 'postgres'), flags, { ...user, cwd: folder, stdio: 'ignore' });
  const asks = ['-h', folder, '-q'];
  await until(() => spawnSync(join(bin, 'pg_isready'), asks).status === 0, 'Postgres');
  return { place: folder, stop: () => end(child, 'SIGINT', folder) };
}

function idsOf(user: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function until(isThere: () => boolean, name: string): Promise<void> {
  for (let tries = 0; !isThere(); tries++) {
    if (tries > 200) throw new Error(`${name} did not start.`);
    await delay(50);
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals, folder: string): Promise<void> {
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
  rmSync(folder, { recursive: true, force: true });
}
