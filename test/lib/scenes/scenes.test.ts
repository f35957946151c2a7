import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { inflateRawSync } from 'node:zlib';
import t, { type Test } from 'tap';
import {
  DataFolder,
  FileAssetStore,
  type RenderService,
  type RenderServiceOptions,
} from '../../../lib/index.ts';
import { fakeRenderService } from '../../../lib/testing/index.ts';
import { DistantLedger } from '../../fixtures/distant-ledger.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { openPostgres } from '../../fixtures/postgres/database.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const CODE = 'from manim import *';
const NAMED = { owner: 'ada', name: 'Intro' };

/** Opens a service whose renders take no time. */
type Open = (t: Test, options?: Partial<RenderServiceOptions>) => Promise<RenderService>;

const DATABASES: Record<string, Open> = {
  async SQLite(t, options) {
    return started(t, { folder: testFolder(t), ...options });
  },
  async Postgres(t, options) {
    const folder = testFolder(t);
    const storage = await openPostgres(t);
    const assets = new FileAssetStore(join(folder, 'assets'));
    await assets.start();
    return started(t, { storage, assets, workFolder: join(folder, 'work'), ...options });
  },
};

async function started(t: Test, options: RenderServiceOptions): Promise<RenderService> {
  const service = fakeRenderService(options);
  t.teardown(() => service.stop());
  await service.start();
  return service;
}

for (const [database, open] of Object.entries(DATABASES)) {
  t.test(
    `scenes are saved, listed, renamed, copied and removed, by their owner only (${database})`,
    async (t) => {
      const { scenes } = await open(t);
      const created = await scenes.create({ ...NAMED, settings: { quality: 'low' } });
      t.match(created, {
        sceneId: /^d[0-9a-f]{48}$/,
        revision: 1,
        code: '',
        className: '',
        lastVersion: null,
      });
      const { sceneId } = created;
      const saved = await scenes.save(sceneId, { revision: 1, code: CODE, className: 'Intro', owner: 'ada' });
      t.match(saved, { revision: 2, code: CODE, className: 'Intro', settings: { quality: 'low' } });
      t.same(await scenes.get(sceneId, { owner: 'ada' }), saved);
      t.match(await scenes.rename(sceneId, { name: ' Outro ' }), { name: 'Outro', revision: 2 });
      const copy = await scenes.duplicate(sceneId);
      t.match(copy, { name: 'Outro (copy)', code: CODE, className: 'Intro', revision: 1, owner: 'ada' });
      const listed = await scenes.list({ owner: 'ada', limit: 1 });
      t.match(listed, { scenes: [{ sceneId: copy.sceneId }] });
      const rest = await scenes.list({ owner: 'ada', after: listed.next ?? '' });
      t.match(rest, { scenes: [{ sceneId, name: 'Outro' }], next: null });
      t.match(await scenes.usage('ada'), { scenes: 2, mostScenes: 1_000 });
      const foreign = { owner: 'eve', revision: 2, name: 'x', draft: 1 };
      const gone = { code: 'not_found' };
      await t.rejects(scenes.get(sceneId, { owner: 'eve' }), gone);
      await t.rejects(scenes.save(sceneId, { owner: 'eve', revision: 2, code: 'x' }), gone);
      await t.rejects(scenes.rename(sceneId, { owner: 'eve', name: 'x' }), gone);
      await t.rejects(scenes.restore(sceneId, { owner: 'eve', revision: 2, draft: 1 }), gone);
      await t.rejects(scenes.render(sceneId, { owner: 'eve' }), gone);
      await t.rejects(scenes.remove(sceneId, { owner: foreign.owner }), gone);
      await scenes.remove(sceneId);
      await t.rejects(scenes.get(sceneId), gone);
      await t.rejects(scenes.remove(sceneId), gone);
      t.equal((await scenes.list({ owner: 'ada' })).scenes.length, 1);
    },
  );

  t.test(`scenes are found by words of name, class and code (${database})`, async (t) => {
    const { scenes } = await open(t);
    const create = async (name: string, code = '', owner = 'ada') =>
      (await scenes.create({ owner, name, code, className: 'FourierSeries' })).sceneId;
    const found = async (text: string, owner = 'ada') =>
      (await scenes.list({ owner, text })).scenes.map(({ name }) => name);
    t.same(await found('wave'), []);
    const first = await create('Wellen im Été', 'self.play(Create(wavelength))');
    await create('Sand', 'Circle()');
    await create('Wave', '', 'eve');
    t.same(await found('WAVE'), ['Wellen im Été']);
    t.same(await found('ete well crea'), ['Wellen im Été']);
    t.same(await found('series'), ['Sand', 'Wellen im Été']);
    t.same(await found(' * '), ['Sand', 'Wellen im Été'], 'no word is no search');
    t.same(await found('wave', 'eve'), ['Wave']);
    await scenes.save(first, { revision: 1, code: 'Square()' });
    t.same([await found('wave'), await found('square')], [[], ['Wellen im Été']], 'as it is now');
    await scenes.rename(first, { name: 'Meer' });
    t.same([await found('wellen'), await found('meer squ')], [[], ['Meer']]);
    await scenes.render(first);
    t.match(await scenes.list({ owner: 'ada', text: 'meer' }), { scenes: [{ lastVersion: { version: 1 } }] });

    for (let count = 0; count < 45; count += 1) await create(`Part ${count}`);
    const names: string[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page = await scenes.list({ owner: 'ada', text: 'part', limit: 20, ...(after && { after }) });
      names.push(...page.scenes.map(({ name }) => name));
      after = page.next;
    }
    t.same(names.toSorted(), Array.from({ length: 45 }, (_, at) => `Part ${at}`).sort());
    await scenes.remove(first);
    t.same(await found('meer'), []);
    await t.rejects(scenes.list({ owner: 'ada', text: 'x'.repeat(1_001) }), { code: 'invalid_request' });
  });

  t.test(
    `of two saves of one revision, the second is refused and nothing is lost (${database})`,
    async (t) => {
      const { scenes } = await open(t);
      const { sceneId } = await scenes.create(NAMED);
      const tabs = ['one', 'two', 'three', 'four'];
      const saves = await Promise.allSettled(
        tabs.map((code) => scenes.save(sceneId, { revision: 1, code, className: 'A' })),
      );
      const refused = saves.filter(({ status }) => status === 'rejected');
      t.equal(refused.length, 3);
      for (const save of refused)
        t.match(save, {
          reason: { code: 'conflict', message: /its revision is 2, not 1. Nothing was saved/ },
        });
      const there = await scenes.get(sceneId);
      t.match(there, { revision: 2, code: /^(one|two|three|four)$/ });
      t.same(await scenes.save(sceneId, { revision: 1, code: there.code }), there, 'it has that already');
      t.match(await scenes.save(sceneId, { revision: 2, code: 'both' }), { revision: 3, code: 'both' });
    },
  );

  t.test(`a render becomes a version, by its job (${database})`, async (t) => {
    const service = await open(t);
    const { scenes } = service;
    const { sceneId } = await scenes.create({
      ...NAMED,
      code: CODE,
      className: 'Intro',
      settings: { fps: 12 },
    });
    const first = await scenes.render(sceneId, { revision: 1, metadata: { a: 1 } });
    t.match(first, {
      version: 1,
      revision: 1,
      job: { className: 'Intro', title: 'Intro', fps: 12, metadata: { a: 1 } },
    });
    await service.wait(first.job.jobId);
    await scenes.save(sceneId, { revision: 1, code: 'changed' });
    await t.rejects(scenes.render(sceneId, { revision: 1 }), { code: 'conflict' });
    const second = await scenes.render(sceneId, { changes: { quality: 'low' } });
    t.match(second, { version: 2, revision: null, job: { quality: 'low' } });
    const again = await service.renderAgain(first.job.jobId);
    for (const { jobId } of [second.job, again]) await service.wait(jobId);
    const versions = await scenes.versions(sceneId);
    t.match(
      versions.map(({ version, revision, state }) => [version, revision, state]),
      [
        [3, 1, 'completed'],
        [2, null, 'completed'],
        [1, 1, 'completed'],
      ],
    );
    t.same(await scenes.versions(sceneId, { before: 3, limit: 1 }), versions.slice(1, 2));
    t.match(await scenes.version(sceneId, 1), { code: CODE });
    t.match(await scenes.get(sceneId), { lastVersion: { version: 3, jobId: again.jobId } });

    const restored = await scenes.restore(sceneId, { revision: 2, version: 1 });
    t.match(restored, { revision: 3, code: CODE, settings: { fps: 12, quality: 'medium' } });
    await service.forget(first.job.jobId);
    t.match(await scenes.version(sceneId, 1), { state: 'forgotten', code: null, job: { className: '' } });
    await t.rejects(scenes.restore(sceneId, { revision: 3, version: 1 }), { message: /forgotten/ });
    await t.rejects(scenes.version(sceneId, 9), { code: 'not_found' });

    await scenes.remove(sceneId);
    t.match(await service.get(again.jobId), { className: 'Intro' }, 'jobs stay');
    await service.renderAgain(again.jobId);
  });

  t.test(
    `a removed scene forgets its jobs only if asked, and those that have ended (${database})`,
    async (t) => {
      const service = await open(t);
      const { scenes } = service;
      const { sceneId } = await scenes.create({ ...NAMED, code: CODE, className: 'Intro' });
      await service.pauseQueue();
      const { job } = await scenes.render(sceneId);
      await t.rejects(scenes.remove(sceneId, { forgetJobs: true }), { code: 'conflict' });
      await service.resumeQueue();
      await service.wait(job.jobId);
      await scenes.remove(sceneId, { forgetJobs: true });
      t.match(await service.get(job.jobId), { className: '', forgottenAt: String });
      t.match(await service.usage({ owner: 'ada' }), [{ completed: 1 }]);
    },
  );

  t.test(`a job becomes the first version of a scene, once (${database})`, async (t) => {
    const service = await open(t);
    const { scenes } = service;
    const request = { owner: 'ada', code: CODE, className: 'Intro', params: { a: 1 } };
    const rendered = async (given: object = {}) =>
      service.wait((await service.enqueue({ ...request, ...given })).jobId);
    const { jobId } = await rendered({ quality: 'low' });
    const scene = await scenes.create({ ...NAMED, jobId });
    t.match(scene, { code: CODE, className: 'Intro', settings: { quality: 'low', params: { a: 1 } } });
    t.match(await scenes.versions(scene.sceneId), [
      { version: 1, revision: 1, job: { jobId, status: 'completed' } },
    ]);
    t.match(await scenes.render(scene.sceneId), { version: 2, revision: 1 });
    await t.rejects(scenes.create({ ...NAMED, jobId }), { code: 'conflict' });
    const several = await rendered();
    const both = await Promise.allSettled(
      [1, 2].map(() => scenes.create({ ...NAMED, jobId: several.jobId })),
    );
    t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    t.match(await scenes.usage('ada'), { scenes: 2 }, 'no scene is left by a refused one');
    const changed = await rendered();
    const other = await scenes.create({ ...NAMED, jobId: changed.jobId, code: `${CODE}# changed` });
    t.match(other, { code: /# changed$/ });
    t.match(await scenes.versions(other.sceneId), [{ version: 1, revision: null }]);
    const gone = { code: 'not_found' };
    await t.rejects(scenes.create({ ...NAMED, owner: 'eve', jobId: changed.jobId }), gone);
    await t.rejects(scenes.create({ ...NAMED, jobId: 'none' }), gone);
    await service.forget(several.jobId);
    await t.rejects(scenes.create({ ...NAMED, jobId: several.jobId }), gone);
  });

  t.test(`a version and its job are added together or not at all (${database})`, async (t) => {
    const ledger = new DistantLedger(0);
    const service = await open(t, { ledger });
    const { scenes } = service;
    const { sceneId } = await scenes.create({ ...NAMED, code: CODE, className: 'Intro' });
    await t.rejects(scenes.render(sceneId), { code: 'insufficient_credits' });
    t.same(await scenes.versions(sceneId), []);
    t.same(await service.list({ owner: 'ada' }), []);
  });

  t.test(
    `a repeated request returns the first version, also when the draft has changed (${database})`,
    async (t) => {
      const { scenes } = await open(t);
      const { sceneId } = await scenes.create({ ...NAMED, code: CODE, className: 'Intro' });
      const render = () => scenes.render(sceneId, { revision: 1, idempotency: { key: 'k' } });
      const first = await render();
      await scenes.save(sceneId, { revision: 1, code: 'changed' });
      t.match(await render(), { version: 1, job: { jobId: first.job.jobId } });
      await t.rejects(scenes.render(sceneId, { idempotency: { key: 'k' } }), { code: 'conflict' });
      t.equal((await scenes.versions(sceneId)).length, 1);
    },
  );

  t.test(`limits of owners hold, also when scenes are added at once (${database})`, async (t) => {
    const limitsOf = (owner: string) => (owner === 'eve' ? { mostScenes: 1 } : undefined);
    const { scenes } = await open(t, { scenes: { mostScenes: 3, mostBytes: 100, limitsOf } });
    const added = await Promise.allSettled(Array.from({ length: 5 }, () => scenes.create(NAMED)));
    t.equal(added.filter(({ status }) => status === 'fulfilled').length, 3);
    await scenes.create({ owner: 'eve', name: 'one' });
    await t.rejects(scenes.create({ owner: 'eve', name: 'two' }), {
      code: 'too_much_stored',
      message: /1 scenes/,
    });
    const [{ sceneId = '' } = {}] = (await scenes.list({ owner: 'ada' })).scenes;
    await t.rejects(scenes.save(sceneId, { revision: 1, code: 'x'.repeat(100) }), {
      code: 'too_much_stored',
    });
    t.match(await scenes.usage('ada'), { scenes: 3, mostScenes: 3, mostBytes: 100 });
  });

  t.test(`all scenes of an owner are removed with its jobs (${database})`, async (t) => {
    const service = await open(t);
    for (const owner of ['ada', 'ada', 'eve']) {
      const { sceneId } = await service.scenes.create({ owner, name: 'x', code: CODE, className: 'A' });
      await service.scenes.render(sceneId);
    }
    t.equal(await service.forgetAll('ada'), 2);
    t.match(await service.scenes.usage('ada'), { scenes: 0, bytes: 0 });
    t.match(await service.scenes.usage('eve'), { scenes: 1 });
  });
}

t.test('an expired version says so, and can be rendered again', async (t) => {
  const clock = new FakeClock('2026-11-29T10:00:00Z');
  const service = await (DATABASES['SQLite'] as Open)(t, { retention: { maxAgeDays: 1 }, clock });
  const { scenes } = service;
  const { sceneId } = await scenes.create({ ...NAMED, code: CODE, className: 'A' });
  const { job } = await scenes.render(sceneId);
  while ((await service.get(job.jobId)).status !== 'completed') {
    clock.advance(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.match(await scenes.versions(sceneId), [{ state: 'completed' }]);
  const expired = new Promise<void>((resolve) => {
    const look = async () => {
      if ((await scenes.version(sceneId, 1)).state === 'expired') return resolve();
      clock.advance(3_600_000);
      setImmediate(() => void look());
    };
    void look();
  });
  await expired;
  await service.renderAgain(job.jobId);
  t.match(await scenes.versions(sceneId), [{ version: 2 }, { version: 1, state: 'expired' }]);
});

t.test('what scenes cannot have is refused', async (t) => {
  const { scenes } = await (DATABASES['SQLite'] as Open)(t);
  const invalid = async (given: object, message: RegExp) =>
    t.rejects(scenes.create({ ...NAMED, ...given }), { code: 'invalid_request', message });
  await invalid({ owner: '' }, /^owner is/);
  for (const name of ['', ' ', 'a\nb', 'x'.repeat(201), 7, '\u202Ex'])
    await invalid({ name }, /^name is a text/);
  await invalid({ className: '1A' }, /Python identifier, or empty/);
  for (const code of ['x'.repeat(204_801), '\ud800', 'a\0b', 7]) await invalid({ code }, /^code is a text/);
  await invalid({ settings: { quality: 'best' } }, /^quality must be/);
  await invalid({ settings: { qualty: 'low' } }, /Did you mean `quality`/);
  await invalid({ settings: { files: { 'a.txt': { content: 'x' } } } }, /^settings.files is/);
  await invalid({ settings: { params: 5 } }, /params/);
  const { sceneId } = await scenes.create(NAMED);
  await t.rejects(scenes.render(sceneId), { code: 'invalid_request', message: /No class is chosen/ });
  await scenes.save(sceneId, { revision: 1, className: 'A' });
  await t.rejects(scenes.render(sceneId), { code: 'invalid_request', message: /code is required/ });
  await t.rejects(scenes.restore(sceneId, { revision: 2 }), { code: 'invalid_request' });
  await t.rejects(scenes.list({ owner: 'ada', after: 'x' }), { code: 'invalid_request' });
  for (const id of [undefined, null, 7, {}, '', 'x\0'] as unknown as string[])
    await t.rejects(scenes.get(id), { code: 'not_found' });
});

t.test('earlier drafts are kept, of steps of typing one a minute, and can be restored', async (t) => {
  const clock = new FakeClock('2026-11-29T10:00:00Z');
  const { scenes } = await (DATABASES['SQLite'] as Open)(t, { clock });
  const { sceneId } = await scenes.create({ ...NAMED, code: 'stood for an hour' });
  clock.advance(3_600_000);
  let revision = 1;
  const save = async (code: string) => {
    ({ revision } = await scenes.save(sceneId, { revision, code }));
  };
  for (let step = 1; step <= 90; step++) {
    await save(`typed ${step}`);
    clock.advance(1_000);
  }
  const drafts = await scenes.drafts(sceneId);
  t.same(
    drafts.map((draft) => draft.revision),
    [91, 62, 2, 1],
  );
  clock.advance(60_000);
  for (let step = 1; step <= 60; step++) {
    await save(`saved ${step}`);
    clock.advance(60_000);
  }
  const kept = await scenes.drafts(sceneId);
  t.equal(kept.length, 51);
  const oldest = kept.at(-1)?.revision ?? 0;
  const { code } = await scenes.draft(sceneId, oldest);
  t.match(await scenes.restore(sceneId, { revision, draft: oldest }), { revision: revision + 1, code });
  await t.rejects(scenes.draft(sceneId, 1), { code: 'not_found', message: /only the latest ones are kept/ });
});

t.test('what a person has decided against is kept, even if it was current for seconds only', async (t) => {
  const clock = new FakeClock('2026-11-29T10:00:00Z');
  const { scenes } = await (DATABASES['SQLite'] as Open)(t, { clock });
  const { sceneId } = await scenes.create({ ...NAMED, code: 'begun' });
  const revisions = async () => (await scenes.drafts(sceneId)).map(({ revision }) => revision);
  await scenes.save(sceneId, { revision: 1, code: 'theirs' });
  await scenes.save(sceneId, { revision: 2, code: 'mine', keepsReplaced: true });
  t.same(await revisions(), [3, 2, 1]);
  t.match(await scenes.restore(sceneId, { revision: 3, draft: 2 }), { revision: 4, code: 'theirs' });
  t.same(await revisions(), [4, 3, 2, 1]);
  t.match(await scenes.draft(sceneId, 3), { code: 'mine' });
  await scenes.save(sceneId, { revision: 4, code: 'typed' });
  t.same(await revisions(), [5, 3, 2, 1]);
});

t.test('nothing that was written in a removed scene can be read in the data folder', async (t) => {
  const folder = testFolder(t);
  const dataFolder = new DataFolder(folder);
  const service = await started(t, { dataFolder });
  const secret = 'the-words-of-a-scene';
  const { sceneId } = await service.scenes.create({ owner: 'ada', name: secret, code: secret });
  for (let revision = 1; revision <= 20; revision++)
    await service.scenes.save(sceneId, { revision, code: `${secret} ${revision}`, className: 'A' });
  const readKeys = () =>
    dataFolder.database.all<{ content: Uint8Array }>('SELECT content FROM text_keys ORDER BY text_key_id');
  const [row] = await readKeys();
  const key = Buffer.from(row?.content ?? []);
  const files = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name)));
  t.notOk(
    files().some((bytes) => bytes.includes(secret)),
    'it is sealed',
  );
  t.ok(
    files().some((bytes) => bytes.includes(key)),
    'its key is there',
  );
  await service.scenes.remove(sceneId);
  t.notOk(
    files().some((bytes) => bytes.includes(key)),
    'no copy of its key is left',
  );
  t.ok((await readKeys())[0]?.content.every((byte) => byte === 0));
});

t.test('the archive has all scenes under different names', async (t) => {
  const { scenes } = await (DATABASES['SQLite'] as Open)(t);
  for (const name of ['Intro', 'intro', 'a/b: c?', '..', 'con'])
    await scenes.create({ owner: 'ada', name, code: `# ${name} ✓` });
  const files = unzipped(await buffer(scenes.archive('ada')));
  t.same(Object.keys(files).sort(), [
    'Intro-2.py',
    'a_b_ c_.py',
    'con_.py',
    'intro.py',
    'scene.py',
    'scenes.json',
  ]);
  t.equal(files['a_b_ c_.py'], '# a/b: c? ✓');
  t.match(JSON.parse(files['scenes.json'] ?? ''), { 'scene.py': { name: '..', revision: 1 } });
});

/** The texts of an archive by its directory, as programs read it. */
function unzipped(zip: Buffer): Record<string, string> {
  const end = zip.length - 22;
  let at = zip.readUInt32LE(end + 16);
  const files: Record<string, string> = {};
  for (let count = zip.readUInt16LE(end + 10); count > 0; count--) {
    const [size, nameLength, entry] = [
      zip.readUInt32LE(at + 20),
      zip.readUInt16LE(at + 28),
      zip.readUInt32LE(at + 42),
    ];
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    const data = entry + 30 + nameLength;
    files[name] = inflateRawSync(zip.subarray(data, data + size)).toString();
    at += 46 + nameLength;
  }
  return files;
}
