import { randomUUID } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemRandom } from '../../lib/base/random.ts';
import { Accounts, ApiKeys, DataFolder, type RenderRequest, StoredLedger } from '../../lib/index.ts';
import { Pricing } from '../../lib/ledger/pricing.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { DeliveryBook } from '../../lib/webhooks/delivery-book.ts';
import { claimDeliveries } from '../../test/fixtures/claims.ts';
import { JobBook } from '../../test/fixtures/job-book.ts';

/** A request of about half a kilobyte. All are different, so that they don't compress better than real ones. */
export function renderRequest(): RenderRequest & { code: string } {
  const lines = Array.from({ length: 8 }, () => {
    const name = Math.floor(Math.random() * 2 ** 32).toString(16);
    const [x, y] = [Math.random().toFixed(3), Math.random().toFixed(3)];
    return `        self.play(Create(Circle(radius=${x}).shift([${y}, 0, 0])))  # ${name}`;
  });
  const code = `from manim import *\n\n\nclass Hello(Scene):\n    def construct(self):\n${lines.join('\n')}\n`;
  return { code, className: 'Hello', quality: 'low', metadata: { lesson: randomUUID() } };
}

const AT_ONCE = 1000;

const ANY = {
  wanted: () => ({ most: 1, mostOfOthers: 1 }),
  maxRunningPerOwner: Number.POSITIVE_INFINITY,
  maySuspect: true,
  precedenceOf: () => ({ yields: false, inGoodStanding: true }),
};

/**
 * Creates a data folder with ended jobs: charged, webhooks delivered, artifacts removed by retention. `secrets`: each
 * job has its own. Another call adds jobs of another account.
 */
export async function fill(
  path: string,
  jobs: number,
  { secrets = false }: { secrets?: boolean } = {},
): Promise<{ key: string; owner: string; jobIds: string[]; bytes: number }> {
  const folder = new DataFolder(path);
  await folder.start();
  const { storage } = folder;
  const masterKeys = await folder.masterKeys();
  const email = `bench-${randomUUID()}@example.org`;
  const { accountId } = await new Accounts({ store: folder.accountStore }).create(email);
  const keys = new ApiKeys({ store: folder.keyStore, masterKeys });
  const { key, record } = await keys.mint({ accountId, name: 'bench' });
  const ledger = new StoredLedger({ store: folder.ledgerStore });
  await ledger.grantPaid(accountId, 1_000_000_000);

  const deliveries = new DeliveryBook({
    storage,
    clock: systemClock,
    random: systemRandom,
    links: () => 'https://render.example.org',
  });
  const book = new JobBook({
    storage,
    ledger,
    pricing: new Pricing(),
    clock: systemClock,
    random: systemRandom,
    deliveries,
    secrets: masterKeys,
  });
  const jobIds: string[] = [];
  const live = async () => {
    const { metadata, ...rest } = renderRequest();
    const request = { quality: 'low' as const, aspectRatio: '16:9' as const, ...rest };
    const webhookUrl = 'https://example.org/hooks/scenepress';
    const metadataJson = JSON.stringify(metadata);
    const webhook = { webhookUrl, ...(secrets && { webhookSecret: randomUUID() }) };
    await book.add({ owner: accountId, request, metadataJson, keyId: record.keyId, ...webhook });
    // Claims whichever queued job is next.
    const [claimed] = await book.claims.claim('bench', ANY);
    if (!claimed) throw new Error('no job could be claimed');
    const { claim } = claimed;
    const { jobId } = claim;
    const artifacts = (['video.mp4', 'thumbnail.jpg'] as const).map((name) => ({
      name,
      assetKey: `${jobId}-${claim.token}/${name}`,
      sizeBytes: 12345,
    }));
    await book.finish(claim, { kind: 'completed', artifacts, costCredits: 3 }, { durationMs: 2500 });
    await storage.transaction((tx) => storage.noteArtifactsRemoved(tx, jobId, Date.now()));
    jobIds.push(jobId);
  };
  const answer = { status: 200, reason: null, detail: null, answer: 'ok', sent: true };
  for (let done = 0; done < jobs; done += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, jobs - done) }, live));
    const begun = await claimDeliveries(storage, deliveries, { most: AT_ONCE });
    await Promise.all(begun.map((delivery) => deliveries.conclude(delivery, answer)));
  }
  await folder.stop();
  return { key, owner: accountId, jobIds, bytes: await sizeOf(path) };
}

async function sizeOf(folder: string): Promise<number> {
  const names = (await readdir(folder)).filter((name) => /^(database|accounts|keys|settings)/.test(name));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
