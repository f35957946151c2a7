import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder, RenderService, StoredLedger } from '../../../lib/index.ts';
import { deliveryRecord } from '../../fixtures/delivery-record.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const SECRET = 'the-secret-of-ada';
const OTHER = 'what-bob-wrote';

/** A folder with ended jobs of two owners. */
async function usedFolder(t: Test) {
  const root = testFolder(t, { ada: SECRET, bob: OTHER });
  const path = join(root, 'data');
  const folder = new DataFolder(path);
  await folder.start();
  const { storage } = folder;
  const ledger = new StoredLedger({ store: folder.ledgerStore });
  for (let number = 1; number <= 20; number++) {
    const owner = number % 2 ? 'ada' : 'bob';
    const text = owner === 'ada' ? SECRET : OTHER;
    const jobId = `job${number}`;
    const assetKey = `${jobId}-2/video.mp4`;
    const failed = number === 3;
    if (!failed) await folder.assets.put(assetKey, { path: join(root, owner) });
    // Left by an interrupted attempt: no job refers to it.
    await folder.assets.put(`${jobId}-1/captions.vtt`, { path: join(root, owner) });
    await storage.transaction(async (tx) => {
      await ledger.reserve({ jobId, owner, amountCredits: 5 }, tx);
      if (failed) await ledger.void({ jobId, owner }, tx);
      else await ledger.settle({ jobId, owner, amountCredits: 3 }, tx);
      const job = jobRecord(jobId, {
        owner,
        phase: failed ? 'failed' : 'completed',
        token: 2,
        className: text.replaceAll('-', '_'),
        metadataJson: JSON.stringify({ text }),
        webhookUrl: `https://example.org/${text}`,
        reserveCredits: 5,
        creditsCost: failed ? 0 : 3,
        error: failed ? `NameError\nline 1: ${text}` : null,
        artifacts: failed ? [] : [{ name: 'video.mp4', assetKey, sizeBytes: text.length }],
        webhookSecretSealed: text,
      });
      await storage.insertJob(tx, job, `# ${text}`);
      const plays = [{ line: 1, shows: text, startSeconds: 0, seconds: 1 }];
      await storage.putTrace(tx, jobId, { plays, output: text });
      const request = { owner, key: text, fingerprint: 'f', jobId, createdAtMs: Date.now() };
      await storage.putIdempotentRequest(tx, request);
      const url = `https://example.org/${text}`;
      const delivery = deliveryRecord(`d${number}`, { owner, jobId, url, dueAtMs: number === 5 ? 1 : null });
      await storage.deliveries.insert(tx, delivery, JSON.stringify({ metadata: text }));
    });
    const answered = deliveryRecord(`d${number}`, { owner, jobId, url: `https://example.org/${text}` });
    await storage.transaction((tx) =>
      storage.deliveries.update(
        tx,
        { ...answered, dueAtMs: number === 5 ? 1 : null },
        { attempt: 0, signature: null, answer: `thanks for ${text}` },
      ),
    );
  }
  const service = new RenderService({ dataFolder: folder, ledger });
  t.teardown(() => service.stop());
  await service.startWithoutWorkers();
  return { path, folder, service };
}

/** The files of a folder that contain a text. */
function filesWith(path: string, text: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(
    (name) => statSync(join(path, name)).isFile() && readFileSync(join(path, name), 'latin1').includes(text),
  );
}

t.test('forgetting removes the owner’s texts from the disk and keeps payment records', async (t) => {
  const { path, folder, service } = await usedFolder(t);
  t.ok(filesWith(path, SECRET).length > 3, 'the text is stored at first');
  const before = await folder.ledgerStore.audit();

  const one = await service.forget('job1', { owner: 'ada' });
  t.match(one, {
    status: 'completed',
    creditsCost: 3,
    metadataJson: null,
    className: '',
    forgottenAt: String,
  });
  t.ok(filesWith(path, SECRET).length > 3, 'other jobs are not changed');
  t.equal(await service.forgetAll('ada'), 10);
  t.same(filesWith(path, SECRET), [], 'no file contains the text');
  t.same(filesWith(path, SECRET.replaceAll('-', '_')), []);
  t.ok(filesWith(path, OTHER).length > 10, 'texts of other owners are not changed');

  t.same(await folder.ledgerStore.audit(), before);
  t.match(await service.get('job3'), { status: 'failed', error: /render failed.*removed/, creditsCost: 0 });
  t.match(await service.list({ owner: 'ada', limit: 100 }), { length: 10 });
  t.equal((await service.list({ owner: 'ada', limit: 100 })).length, 10);
  await t.rejects(service.openArtifact('job1', 'video.mp4'), { code: 'artifact_gone' });
  await t.rejects(service.renderAgain('job1'), { code: 'not_found' });
  t.match(await service.deliveries.list({ jobId: 'job5' }), [
    { url: 'https://example.org', status: 'failed' },
  ]);
  await t.rejects(service.deliveries.sendAgain('d1'), { code: 'not_found', message: /has been removed/ });
  t.match(await service.get('job2'), { metadataJson: `{"text":"${OTHER}"}` });
  t.equal(await folder.storage.readSource('job2'), `# ${OTHER}`);
  t.same(await service.plays('job1'), []);
  t.match(await service.plays('job2'), [{ shows: OTHER }]);
  t.equal(await service.output('job1'), '');
  t.equal(await service.output('job2'), OTHER);
  const forgottenAt = one.forgottenAt;
  t.equal((await service.forget('job1')).forgottenAt, forgottenAt, 'forgetting again changes nothing');
});

t.test('a signal ends the forgetting of an owner between two jobs', async (t) => {
  const { path, service } = await usedFolder(t);
  const before = filesWith(path, SECRET).length;
  await t.rejects(service.forgetAll('ada', { signal: AbortSignal.abort() }), { name: 'AbortError' });
  t.equal(filesWith(path, SECRET).length, before);
  t.equal(await service.forgetAll('ada'), 10);
});

t.test('an unfinished job cannot be forgotten, but forgetting its owner cancels it first', async (t) => {
  const folder = new DataFolder(join(testFolder(t), 'data'));
  const service = new RenderService({ dataFolder: folder });
  t.teardown(() => service.stop());
  await service.startWithoutWorkers();
  const { jobId } = await service.enqueue({ owner: 'ada', code: SECRET, className: 'A' });
  await t.rejects(service.forget(jobId), { code: 'conflict', message: /not ended.*Cancel it first/ });
  await t.rejects(service.forget(jobId, { owner: 'bob' }), { code: 'not_found' });
  writeFileSync(join(folder.path, 'notes-of-the-operator'), SECRET);
  t.equal(await service.forgetAll('ada'), 1);
  t.match(await service.get(jobId), { status: 'failed' });
  t.same(filesWith(folder.path, SECRET), ['notes-of-the-operator']);
});

t.test('a delivery created while its job is being forgotten is forgotten, too', async (t) => {
  for (const first of ['sent again', 'forgotten']) {
    const { path, folder, service } = await usedFolder(t);
    const sendAgain = () => service.deliveries.sendAgain('d7').catch((error: unknown) => error);
    const forget = () => service.forget('job7');
    await Promise.all(first === 'forgotten' ? [forget(), sendAgain()] : [sendAgain(), forget()]);
    for (const { deliveryId, status, url } of await service.deliveries.list({ jobId: 'job7' })) {
      t.match({ status, url }, { status: 'failed', url: 'https://example.org' });
      t.equal(await folder.storage.deliveries.readBody(deliveryId), undefined);
    }
    await service.forgetAll('ada');
    t.same(filesWith(path, SECRET), [], `${first} first`);
    await service.stop();
  }
});
