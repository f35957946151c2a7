import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { DataFolder, StoredLedger } from '../../../lib/index.ts';
import { BODY_LINE, scene, startService } from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';

const SQUARES = scene(
  'square = Square(color=RED, fill_opacity=1)',
  'self.play(square.animate.shift(RIGHT), run_time=0.4)',
  'self.play(square.animate.shift(2 * LEFT), run_time=0.4)',
);
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

const dataFolder = new DataFolder(testFolder(t));
const ledger = new StoredLedger({ store: dataFolder.ledgerStore, freeCreditsPerMonth: 20 });
const service = await startService(t, { dataFolder, ledger });

t.test('a still is charged once, and kept for its owner', async (t) => {
  const { ok, findings, still } = await service.still(SQUARES, { owner: 'ada', quality: 'low', at: 0.2 });
  t.same([ok, findings], [true, []]);
  t.match(still, { className: 'Main', snapshotId: /^s/ });
  const cost = still?.creditsCost ?? 0;
  t.ok(cost >= 1);
  const png = Buffer.from(still?.png ?? []);
  t.same(png.subarray(0, 8), PNG);
  t.same([png.readUInt32BE(16), png.readUInt32BE(20)], [854, 480]);
  t.equal((await service.balance('ada')).total, 20 - cost);
  const { snapshotId } = still ?? {};
  const { stream, contentType } = await service.openPicture(snapshotId ?? '', 'still.png', { owner: 'ada' });
  t.same(await buffer(stream), png);
  t.equal(contentType, 'image/png');
  await t.rejects(service.openPicture(snapshotId ?? '', 'still.png', { owner: 'eve' }), {
    code: 'not_found',
  });
  t.same((await ledger.audit()).problems, []);
  t.same(await service.list({ owner: 'ada' }), [], 'it is no job');
});

t.test('without an owner, nothing is charged or kept', async (t) => {
  const first = await service.still(SQUARES, { quality: 'low', at: { play: 0 } });
  const last = await service.still(SQUARES, { quality: 'low' });
  t.match(first.still, { snapshotId: null, creditsCost: 0 });
  t.notSame(first.still?.png, last.still?.png);
});

t.test('a scene that fails is not charged', async (t) => {
  const { ok, findings, still } = await service.still(scene('self.wiat()'), { owner: 'bob', quality: 'low' });
  t.same([ok, still], [false, null]);
  t.match(findings, [{ kind: 'scene:attribute', line: BODY_LINE, fix: { text: 'wait' } }]);
  const after = await service.still(SQUARES, { owner: 'bob', quality: 'low', at: 9 });
  t.match(after.findings, [{ kind: 'scene:value', message: /no frame at 9 s/ }]);
  t.equal((await service.balance('bob')).total, 20);
});

t.test('requests that can have no still are refused', async (t) => {
  for (const at of [-1, Number.NaN, { play: 0.5 }, 'first' as never, null as never])
    await t.rejects(service.still(SQUARES, { at }), { code: 'invalid_request' });
  await t.rejects(service.still(`${SQUARES}\nclass Two(Scene):\n    pass\n`), {
    code: 'invalid_request',
    message: /several scenes.*Main, Two/,
  });
  await t.rejects(service.still('x = 1'), { message: /no scene/ });
  await t.rejects(service.still(SQUARES, { quality: 'best' as never }), { code: 'invalid_request' });
  await t.rejects(service.still(SQUARES, { where: 1 } as never), { code: 'invalid_request' });
});

t.test('an owner without the credits gets none', async (t) => {
  while ((await service.balance('cem')).total >= 5)
    await ledger.reserve({ jobId: `x${Math.random()}`, owner: 'cem', amountCredits: 4 });
  await t.rejects(service.still(SQUARES, { owner: 'cem', quality: 'low' }), { code: 'insufficient_credits' });
});

t.test('a still can be aborted', async (t) => {
  const aborting = AbortSignal.timeout(50);
  const slow = scene('time.sleep(60)', 'self.wait()');
  await t.rejects(service.still(slow, { owner: 'dan', className: 'Main', signal: aborting }), {
    name: 'TimeoutError',
  });
  await until(async () => (await service.balance('dan')).total === 20);
  t.equal((await service.balance('dan')).total, 20);
});
