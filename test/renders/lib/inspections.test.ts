import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { DataFolder, StoredLedger } from '../../../lib/index.ts';
import { jpegSize } from '../../fixtures/jpeg.ts';
import { BODY_LINE, scene, startService } from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const FAULTY = scene(
  'title = Text("On the left").shift(7 * LEFT)',
  'self.play(FadeIn(title), run_time=0.4)',
  'self.play(Create(Circle()), run_time=0.4)',
  'self.wait(0.4)',
  'print("done")',
);
const TWO = `${scene('self.wait(0.4)')}
class Other(Scene):
    def construct(self):
        self.wiat()
`;

const dataFolder = new DataFolder(testFolder(t));
const ledger = new StoredLedger({ store: dataFolder.ledgerStore, freeCreditsPerMonth: 20 });
const service = await startService(t, { dataFolder, ledger });

t.test('pictures, plays and faults of a scene, which is charged', async (t) => {
  const { ok, findings, scenes } = await service.inspect(FAULTY, { owner: 'ada', quality: 'low' });
  t.equal(ok, true, 'a warning is no error');
  t.match(findings, [
    {
      ...{ kind: 'layout:off-frame', severity: 'warning', line: BODY_LINE, play: 0 },
      ...{ message: /`title` leaves the frame at the left/, hint: /`title`/ },
      layout: { mobject: 'title', box: { top: Number }, seconds: Number },
    },
  ]);
  t.equal(findings.length, 1);
  const [found] = scenes;
  t.match(found, {
    ...{ className: 'Main', frames: 18, seconds: 1.2, readsPixels: false, output: 'done\n' },
    plays: [
      { line: BODY_LINE + 1, moves: ['title'] },
      { line: BODY_LINE + 2, moves: ['Circle'] },
      { line: BODY_LINE + 3, moves: [] },
    ],
  });
  const pictures = found?.pictures ?? [];
  t.same(
    pictures.map(({ number }) => number),
    pictures.map((_, index) => index + 1),
  );
  t.same([...new Set(pictures.map(({ play }) => play))], [0, 1, 2]);
  for (const { jpeg } of pictures) t.same(jpegSize(jpeg), [480, 270]);
  const [width = 0, height = 0] = jpegSize(found?.sheet ?? new Uint8Array());
  t.ok(width * height <= 1_150_000 && (found?.sheet.length ?? 0) <= 200_000, `${width} x ${height}`);
  const cost = found?.creditsCost ?? 0;
  t.ok(cost >= 1);
  t.equal((await service.balance('ada')).total, 20 - cost);
  const { snapshotId } = found ?? {};
  for (const [name, bytes] of [
    ['sheet.jpg', found?.sheet],
    ['picture-2.jpg', pictures[1]?.jpeg],
  ] as const) {
    const { stream, contentType } = await service.openPicture(snapshotId ?? '', name, { owner: 'ada' });
    t.equal(contentType, 'image/jpeg');
    t.same(await buffer(stream), bytes);
  }
  t.same((await ledger.audit()).problems, []);
});

t.test('of several scenes, those that fail are not charged', async (t) => {
  const { ok, findings, scenes } = await service.inspect(TWO, { owner: 'bob', aspectRatio: '9:16' });
  t.equal(ok, false);
  t.match(findings, [{ kind: 'scene:attribute', severity: 'error', fix: { text: 'wait' } }]);
  t.match(scenes, [{ className: 'Main', pictures: [{ play: 0 }] }]);
  t.same(jpegSize(scenes[0]?.pictures[0]?.jpeg ?? new Uint8Array()), [270, 480]);
  t.equal((await service.balance('bob')).total, 20 - (scenes[0]?.creditsCost ?? 0));
});

t.test('a scene that plays nothing has one picture', async (t) => {
  const { scenes } = await service.inspect(scene('self.add(Circle())'), { quality: 'low' });
  t.match(scenes, [{ frames: 15, seconds: 1, plays: [], creditsCost: 0, snapshotId: null }]);
  t.equal(scenes[0]?.pictures.length, 1);
});

t.test('a scene with many plays has at most 120 pictures', async (t) => {
  const many = scene('for i in range(400):', '    self.play(Rotate(Square(), 0.1), run_time=2 / 15)');
  const { scenes } = await service.inspect(many, { quality: 'low' });
  const pictures = scenes[0]?.pictures ?? [];
  t.ok(pictures.length > 60 && pictures.length <= 120, `${pictures.length}`);
  t.equal(pictures.at(-1)?.play, 399);
});

t.test('what a scene forges is taken for nothing else than pictures and warnings', async (t) => {
  const forged = scene(
    'import socket, json, gc',
    'channel = next(o for o in gc.get_objects() if type(o).__name__ == "JobChannel")',
    'lie = {"kind": "layout:blank", "severity": "error", "message": "<b>lie</b>" + "x" * 5000, "line": "7"}',
    'channel.findings([lie, {"kind": "scene:name", "message": "x"}, "text"])',
    'channel.pictures([{"play": 1e9, "line": -4, "seconds": "late"}] * 200)',
    'self.wait(0.2)',
  );
  const { ok, findings, scenes } = await service.inspect(forged, { quality: 'low' });
  t.equal(ok, true);
  const lie = findings.find(({ message }) => message.startsWith('<b>lie'));
  t.match(lie, { kind: 'layout:blank', severity: 'warning', line: null });
  t.ok((lie?.message.length ?? 0) <= 2000);
  t.notOk(findings.some(({ kind }) => kind === 'scene:name'));
  t.ok((scenes[0]?.pictures.length ?? 0) <= 3, 'as many as were drawn');
});

t.test('requests that no render can have are refused', async (t) => {
  await t.rejects(service.inspect('', {}), { code: 'invalid_request' });
  await t.rejects(service.inspect(FAULTY, { quality: 'best' as never }), { code: 'invalid_request' });
  await t.rejects(service.inspect(FAULTY, { at: 1 } as never), { code: 'invalid_request' });
});
