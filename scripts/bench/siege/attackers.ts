// Attacks a service with one account for each way to do so, until standard input ends. Then prints the number of responses
// by kind as JSON.

import { connect, createServer, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../../../test/fixtures/seeded-random.ts';
import { Person } from '../person.ts';
import * as scenes from './scenes.ts';

/** The first argument of this process, as JSON. */
export interface AttackOrders {
  url: string;
  /** One for each poster. */
  accounts: { email: string; key: string }[];
  /** A video to download without reading it. */
  video: string;
  seed: number;
}

/** Number of responses by kind: a status, or `closed`. */
export type AttackReport = Record<string, Record<string, number>>;

const LONGEST_PAUSE_MS = 5_000;
const PAUSE_MS = 500;
const METADATA_BYTES = 190_000;
const ADDRESSES = 40;
const SLOW_CONNECTIONS = 400;
const UNREAD_DOWNLOADS = 100;
const DRIP_MS = 5_000;
const FUZZ_PAUSE_MS = 40;
const UNREAD_MS = 150_000;
const PAGE_CLIENTS = 32;
const LISTING_CLIENTS = 4;
/** What a request may have in all. */
const MOST_BYTES = 200_000;

/** Fragments of fuzzed requests. */
const PIECES = [
  'GET / HTTP/1.1\r\n',
  'POST /api/v2/render HTTP/1.1\r\n',
  'Host: x\r\n',
  'Content-Length: 1\r\n',
  'Content-Length: -1\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: close\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\nConnection: Upgrade\r\n',
  '\r\n',
  '{}',
  '{"code":"',
  '0\r\n\r\n',
  'fffffffff\r\n',
  '\0\xff\xfe',
  `X-Long: ${'y'.repeat(20_000)}\r\n`,
];

const { url, accounts, video, seed } = JSON.parse(process.argv[2] ?? '') as AttackOrders;
const { hostname: host, port } = new URL(url);
const random = seededRandom(seed);
const below = (most: number) => Math.floor(random() * most);
const report: AttackReport = {};
const over = new AbortController();

// Represents other machines, so it gets low CPU priority.
setPriority(constants.priority.PRIORITY_LOW);

const tarpit = createServer((socket) => socket.on('error', () => {}));
await new Promise<void>((resolve) => tarpit.listen(0, '0.0.0.0', resolve));
const tarpitPort = (tarpit.address() as { port: number }).port;

const posters: [name: string, body: () => object][] = [
  ['page tables', () => ({ code: scenes.PAGE_TABLES })],
  ['files', () => ({ code: random() < 0.5 ? scenes.HIDDEN_FILES : scenes.MANY_FILES })],
  ['fork bombs', () => ({ code: scenes.FORK_BOMB })],
  ['memory bombs', () => ({ code: scenes.MEMORY_BOMB })],
  ['crash loop', () => ({ code: scenes.CRASH })],
  // Each kind has addresses, ports and names of its own.
  [
    'tarpits',
    () => ({
      code: scenes.QUICK,
      quality: 'low',
      webhookUrl: `https://127.${1 + below(200)}.${below(250)}.${1 + below(250)}:${tarpitPort}/${below(1e9)}`,
    }),
  ],
  ['metadata', () => ({ code: scenes.FAILING, metadata: 'm'.repeat(METADATA_BYTES) })],
  ['endless', () => ({ code: random() < 0.5 ? scenes.ENDLESS : scenes.ENDLESS_THREADS })],
  ['fuzzer', () => ({ code: scenes.FAILING, fps: 10 ** 15 })],
  ['slow clients', () => ({ code: scenes.ENDLESS })],
  ['pages', pageJob],
  ['listings', () => ({ code: scenes.ENDLESS })],
  ['sleepers', sleeper()],
];
const keyOf = (name: string) => accounts[posters.findIndex(([poster]) => poster === name)]?.key ?? '';
const personOf = (name: string) =>
  Person.signIn(Number(port), accounts[posters.findIndex(([poster]) => poster === name)]?.email ?? '');

const attacks = [
  ...posters.map(([name, body]) => post(name, keyOf(name), body)),
  ...Array.from({ length: SLOW_CONNECTIONS }, (_, i) => dripHead(addressOf(i))),
  ...Array.from({ length: UNREAD_DOWNLOADS }, (_, i) => downloadUnread(addressOf(i))),
  fuzzConnections(),
  loadPages(),
  listScenes(),
];
process.stdin.resume().once('end', () => over.abort());
await Promise.all(attacks);
console.log(JSON.stringify(report));
process.exit();

function count(attack: string, answer: string): void {
  report[attack] ??= {};
  report[attack][answer] = (report[attack][answer] ?? 0) + 1;
}

function addressOf(index: number): string {
  return `127.0.1.${1 + (index % ADDRESSES)}`;
}

function pause(ms: number): Promise<void> {
  return delay(ms, undefined, { signal: over.signal }).catch(() => {});
}

/** Posts jobs as fast as possible, and occasionally polls them. */
async function post(name: string, key: string, body: () => object): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  while (!over.signal.aborted) {
    let pauseMs = PAUSE_MS;
    try {
      const init = { method: 'POST', headers, body: JSON.stringify({ className: 'Main', ...body() }) };
      const answer = await fetch(`${url}/api/v2/render`, { ...init, signal: over.signal });
      await answer.arrayBuffer();
      count(name, String(answer.status));
      const retryMs = Number(answer.headers.get('retry-after') ?? 0) * 1000;
      if (retryMs > 0) pauseMs = Math.min(LONGEST_PAUSE_MS, retryMs);
    } catch {
      if (!over.signal.aborted) count(name, 'closed');
    }
    await pause(pauseMs);
  }
}

/** Fails at once, with a large page: code of line breaks, or a long name, address and metadata. */
function pageJob(): object {
  if (random() < 0.5) return { code: `x\n${'\n'.repeat(MOST_BYTES / 2 - 1000)}` };
  const part = 'a'.repeat(MOST_BYTES / 4);
  const webhookUrl = `https://127.0.0.1:${tarpitPort}/${part}`;
  return { code: scenes.FAILING, className: `A${part}`, webhookUrl, metadata: part };
}

/** Gets into good standing, then sleeps. */
function sleeper(): () => object {
  let posted = 0;
  return () => ({ code: ++posted === 1 ? scenes.QUICK : scenes.SLEEPING });
}

/** Loads the largest pages of an account in many browsers: of jobs, lists and searches. */
async function loadPages(): Promise<void> {
  const person = await personOf('pages');
  let jobIds: string[] = [];
  const paths = [
    () => '/jobs',
    () => '/jobs?error=nothing',
    () => '/webhooks',
    () => `/jobs/${jobIds[below(jobIds.length)]}`,
    () => `/playground?job=${jobIds[below(jobIds.length)]}`,
  ];
  const load = async () => {
    while (!over.signal.aborted) {
      const path = paths[jobIds.length === 0 ? 0 : below(paths.length)] as () => string;
      const { status, body } = await person.get(path()).catch(() => ({ status: 0, body: '' }));
      count('pages of the dashboard', status === 0 ? 'closed' : String(status));
      const found = [...body.matchAll(/name="jobId" value="(\w+)"/g)].map(([, jobId]) => `${jobId}`);
      if (found.length > 0) jobIds = found;
      if (status !== 200) await pause(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: PAGE_CLIENTS }, load));
}

/** Lists the scenes of a source that never ends, beside the endless jobs of the account. */
async function listScenes(): Promise<void> {
  const person = await personOf('listings');
  const csrf = await person.csrfOf('/playground');
  const form = new URLSearchParams({ csrf, code: scenes.ENDLESS_SOURCE }).toString();
  const list = async () => {
    while (!over.signal.aborted) {
      const answer = await person.open('/playground/scenes', form).catch(() => undefined);
      if (answer) for await (const _ of answer);
      count('listings of scenes', answer ? String(answer.statusCode) : 'closed');
      await pause(FUZZ_PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: LISTING_CLIENTS }, list));
}

/** Sends an endless request head; half of the connections close only their own side. */
async function dripHead(localAddress: string): Promise<void> {
  while (!over.signal.aborted) {
    const socket = open(localAddress).resume();
    socket.write('POST /api/v2/render HTTP/1.1\r\nHost: x\r\n');
    if (random() < 0.5) socket.end();
    const dripping = setInterval(() => socket.writable && socket.write('X-A: b\r\n'), DRIP_MS);
    await closed(socket);
    clearInterval(dripping);
    count('half-open connections', 'closed');
    await pause(PAUSE_MS);
  }
}

/** Requests a video many times on one connection without reading responses. */
async function downloadUnread(localAddress: string): Promise<void> {
  const { pathname } = new URL(video);
  while (!over.signal.aborted) {
    const socket = open(localAddress);
    // A paused socket doesn't notice that it was closed.
    socket.pause();
    socket.write(`GET ${pathname} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(90));
    const enough = setTimeout(() => socket.destroy(), UNREAD_MS);
    await closed(socket);
    clearTimeout(enough);
    count('unread downloads', 'closed');
    await pause(PAUSE_MS);
  }
}

async function fuzzConnections(): Promise<void> {
  while (!over.signal.aborted) {
    const socket = open(addressOf(below(ADDRESSES)));
    const pieces = Array.from({ length: 1 + below(9) }, () => PIECES[below(PIECES.length)]);
    socket.write(Buffer.from(pieces.join(''), 'latin1'));
    if (random() < 0.5) socket.end();
    socket.resume();
    setTimeout(() => socket.destroy(), 1_000).unref();
    socket.once('close', () => count('fuzzed connections', 'closed'));
    await pause(FUZZ_PAUSE_MS);
  }
}

function open(localAddress: string): Socket {
  const socket = connect({ host, port: Number(port), localAddress, allowHalfOpen: true });
  socket.on('error', () => {});
  return socket;
}

/** Resolves when the other side has closed the socket, or the siege has ended. */
async function closed(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => socket.destroy();
    over.signal.addEventListener('abort', end, { once: true });
    socket.once('close', () => {
      over.signal.removeEventListener('abort', end);
      resolve();
    });
    if (over.signal.aborted) end();
  });
}
