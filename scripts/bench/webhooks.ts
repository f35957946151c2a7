import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { silentLogger } from '../../lib/base/logger.ts';
import { systemRandom } from '../../lib/base/random.ts';
import { DataFolder } from '../../lib/index.ts';
import type { DeliveryRecord } from '../../lib/storage/delivery.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { DeliveryBook } from '../../lib/webhooks/delivery-book.ts';
import { DeliverySender } from '../../lib/webhooks/delivery-sender.ts';
import { OutboundThread } from '../../lib/webhooks/outbound-thread.ts';
import { TestAuthority } from '../../test/fixtures/certificates.ts';
import { deliveryRecord } from '../../test/fixtures/delivery-record.ts';

const HOSTS = 1_000;
const DEAD_SHARE = 0.1;
/** Hosts are assigned to accounts in turn, so every tenth account has the dead hosts. */
const ACCOUNTS = 100;
const BODY = JSON.stringify({ jobId: 'x'.repeat(48), status: 'completed', metadata: 'x'.repeat(500) });

/**
 * Sends stored deliveries to receivers in a separate local process: real TLS, a connection and two durable commits
 * per delivery. Dead hosts accept connections but never respond; they belong to other accounts than the live hosts.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { deliveries: { type: 'string', default: '5000' } } });
  const count = Number(values.deliveries);
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-bench-'));
  const receiver = await startReceiver(folder);
  const quick = `quick.bench.test:${receiver.quickPort}`;
  const living = (i: number) => `host-${i}.bench.test:${receiver.quickPort}`;
  const dead = (i: number) => `host-${i}.bench.test:${receiver.mutePort}`;
  const isDead = (i: number) => i % (1 / DEAD_SHARE) === 0;
  const mixed = (i: number) => (isDead(i % HOSTS) ? dead(i % HOSTS) : living(i % HOSTS));
  try {
    console.log(row('due', 'to', 'delivered', 'seconds', 'per second', 'memory'));
    const measure = async (to: string, due: string[]) => {
      const { delivered, seconds, rss } = await deliver(join(folder, to), due, receiver);
      const cells = [due.length, to, delivered, seconds.toFixed(1), Math.round(delivered / seconds)].map(
        String,
      );
      console.log(row(...cells, `${Math.round(rss / 2 ** 20)} MiB`));
    };
    await measure('1 host', Array(count).fill(quick));
    await measure(
      '1,000 hosts',
      Array.from({ length: count }, (_, i) => living(i % HOSTS)),
    );
    await measure(
      '1,000 hosts, 100 dead',
      Array.from({ length: count }, (_, i) => mixed(i)),
    );
    const backlog = Array.from({ length: 100_000 }, (_, i) => dead(i % 100));
    await measure('1 host, behind 100 dead', [...backlog, ...Array(1_000).fill(quick)]);
  } finally {
    receiver.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Time until everything that can be delivered is delivered. */
async function deliver(path: string, hosts: string[], receiver: Receiver) {
  const folder = new DataFolder(path);
  await folder.start();
  const { storage } = folder;
  await fill(folder, hosts);
  const toReceive = hosts.filter((host) => host.endsWith(`:${receiver.quickPort}`)).length;
  const outbound = new OutboundThread({
    options: { allowNetworks: ['127.0.0.0/8'], ca: receiver.ca, resolve: async () => ['127.0.0.1'] },
    clock: systemClock,
    logger: silentLogger,
  });
  outbound.start();
  const sender = new DeliverySender({
    store: storage.deliveries,
    book: new DeliveryBook({ storage, clock: systemClock, random: systemRandom }),
    outbound,
    secretOf: async () => 'whsec_of_the_benchmark',
    clock: systemClock,
    logger: silentLogger,
    concurrency: 256,
    concurrencyPerHost: 8,
    concurrencyUnproven: 16,
  });
  const before = await receiver.count();
  const startedAt = performance.now();
  sender.start();
  let delivered = 0;
  while (delivered < toReceive) {
    await delay(20);
    delivered = (await receiver.count()) - before;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const { rss } = process.memoryUsage();
  await sender.stop();
  await outbound.stop();
  await folder.stop();
  return { delivered, seconds, rss };
}

async function fill({ storage }: DataFolder, hosts: string[]): Promise<void> {
  const recordOf = (host: string, i: number): DeliveryRecord =>
    deliveryRecord(String(i).padStart(48, '0'), { host, url: `https://${host}/hook`, owner: ownerOf(host) });
  for (let from = 0; from < hosts.length; from += 1_000) {
    await storage.transaction(async (tx) => {
      for (const [i, host] of hosts.slice(from, from + 1_000).entries()) {
        await storage.deliveries.insert(tx, recordOf(host, from + i), BODY);
      }
    });
  }
}

function ownerOf(host: string): string {
  const i = /^host-(\d+)\./.exec(host)?.[1];
  return i === undefined ? 'account' : `account-${Number(i) % ACCOUNTS}`;
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

async function startReceiver(folder: string) {
  const authority = new TestAuthority(folder);
  const { key, cert } = authority.issue(['*.bench.test']);
  const [keyFile, certFile] = [join(folder, 'receiver.key'), join(folder, 'receiver.pem')];
  await writeFile(keyFile, key);
  await writeFile(certFile, cert);
  const program = join(import.meta.dirname, 'webhook-receiver.ts');
  const child = spawn(process.execPath, [program, keyFile, certFile], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => String((await lines.next()).value);
  const [quickPort, mutePort] = (await next()).split(' ').map(Number);
  const count = async () => {
    child.stdin.write('\n');
    return Number(await next());
  };
  return { ca: authority.ca, quickPort, mutePort, count, stop: () => child.kill() };
}

function row(...cells: string[]): string {
  const widths = [8, 25, 11, 9, 12, 10];
  return cells
    .map((cell, i) => (i === 1 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
    .join('  ');
}
