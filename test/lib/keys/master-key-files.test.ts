import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { realDisk } from '../../../lib/files/disk.ts';
import { MasterKeyFiles } from '../../../lib/keys/master-key-files.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { seededBytes } from '../../fixtures/seeded-random.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const [OLD, NEW, THIRD] = ['aa'.repeat(32), 'bb'.repeat(32), 'cc'.repeat(32)];
const clock = new FakeClock('2026-11-21T10:00:00Z');

function filesOf(folder: string): MasterKeyFiles {
  return new MasterKeyFiles(folder, realDisk, { clock, random: systemRandom });
}

t.test('the keys are loaded once, until they are closed', async (t) => {
  const folder = testFolder(t);
  const files = filesOf(folder);
  const keys = await files.load();
  t.equal(await files.load(), keys);
  files.close();
  t.not(await files.load(), keys);
  t.equal((await files.load()).current.id, keys.current.id);
});

t.test('a load that failed can be repeated', async (t) => {
  const folder = testFolder(t, { 'master.key': 'nonsense' });
  const files = filesOf(folder);
  const message = `${join(folder, 'master.key')} is damaged: a key is 64 hexadecimal digits. Put the right one there.`;
  await t.rejects(files.load(), { code: 'master_key', message, cause: { code: 'master_key' } });
  writeFileSync(join(folder, 'master.key'), OLD);
  t.equal((await files.load()).current.toHex(), OLD);
});

t.test('a system error names the folder', async (t) => {
  const folder = testFolder(t, { 'master.key': {} });
  await t.rejects(filesOf(folder).load(), { code: 'storage_failed', message: /master\.key is a folder/ });
});

t.test('a given key is used, and no key file is written', async (t) => {
  const folder = testFolder(t);
  t.equal((await filesOf(folder).load({ given: OLD })).current.toHex(), OLD);
  t.same(readdirSync(folder), ['master.key.check']);
  await t.rejects(filesOf(folder).load({ given: 'x' }), { message: /^The master key that was given is dam/ });
});

t.test('a rotation generates the new key in the folder, or is given it, as the first key was', async (t) => {
  const own = filesOf(testFolder(t));
  await own.load();
  await t.rejects(own.begin(NEW), { code: 'invalid_request', message: /do not give a key/ });
  t.equal(await own.isRotating(), false);

  const external = filesOf(testFolder(t));
  await external.load({ given: OLD });
  await t.rejects(external.begin(undefined), { code: 'invalid_request', message: /give the new key, too/ });
  await t.rejects(external.begin('x'), { code: 'master_key', message: /^The new master key is damaged/ });
  await t.rejects(external.begin(OLD), { code: 'conflict' });
  t.equal(await external.isRotating(), false);
});

t.test('after a rotation the former key is kept under the time of its replacement', async (t) => {
  const folder = testFolder(t, { 'master.key': OLD, 'master.key.other': 'x' });
  const files = filesOf(folder);
  await files.load();
  await files.begin(undefined);
  t.equal(await files.isRotating(), true);
  const next = (await files.load()).current;
  t.not(next.toHex(), OLD);
  t.equal(readFileSync(join(folder, 'master.key.next'), 'utf8'), `${next.toHex()}\n`);
  const name = 'master.key.until-2026-11-21T10-00-00.000Z';
  t.equal(await files.finish(), name);
  t.equal(await files.isRotating(), false);
  t.equal(readFileSync(join(folder, name), 'utf8').trim(), OLD);
  t.equal(readFileSync(join(folder, 'master.key'), 'utf8').trim(), next.toHex());
  t.same(readdirSync(folder).sort(), ['master.key', 'master.key.check', 'master.key.other', name]);
  const again = await filesOf(folder).load();
  t.equal(again.current.id, next.id);
  t.equal(again.former, undefined);
});

t.test('what an interrupted rotation left of the former key is completed, not kept twice', async (t) => {
  const former = 'master.key.until-2026-11-20T10-00-00.000Z';
  const earlier = 'master.key.until-2026-10-20T10-00-00.000Z';
  const folder = testFolder(t, {
    'master.key': OLD,
    'master.key.next': NEW,
    [earlier]: THIRD,
    [`${earlier}.new`]: 'incompl',
    [former]: OLD,
  });
  const files = filesOf(folder);
  const keys = await files.load();
  t.equal(keys.current.toHex(), NEW);
  t.equal(keys.former?.toHex(), OLD);
  t.equal(await files.finish(), former);
  t.same(readdirSync(folder).sort(), ['master.key', 'master.key.check', earlier, former].sort());
});

t.test('during a rotation of an external key, either key gives access to both', async (t) => {
  const folder = testFolder(t);
  const files = filesOf(folder);
  await files.load({ given: OLD });
  await files.begin(NEW);
  const stored = readFileSync(join(folder, 'master.key.next'), 'utf8');
  t.notOk(stored.includes(OLD) || stored.includes(NEW), 'neither is readable');
  for (const [given, other] of [
    [OLD, NEW],
    [NEW, OLD],
  ] as const) {
    const keys = await filesOf(folder).load({ given });
    t.equal(keys.current.toHex(), given);
    t.equal(keys.former?.toHex(), other);
  }
  await t.rejects(filesOf(folder).load({ given: THIRD }), {
    code: 'master_key',
    message: `The master key that was given is not the one that the secrets in ${folder} are encrypted with. Give the right one.`,
  });
  t.equal(await files.finish(), null, 'no former key is kept');
  t.same(readdirSync(folder), ['master.key.check']);
  await t.rejects(filesOf(folder).load({ given: OLD }), { code: 'master_key' });
  t.equal((await filesOf(folder).load({ given: NEW })).former, undefined);
});

t.test('a key from the folder may be given in a rotation that was interrupted', async (t) => {
  const folder = testFolder(t, { 'master.key': OLD, 'master.key.next': NEW });
  await filesOf(folder).load();
  for (const [given, other] of [
    [OLD, NEW],
    [NEW, OLD],
  ] as const) {
    const keys = await filesOf(folder).load({ given });
    t.equal(keys.current.toHex(), given);
    t.equal(keys.former?.toHex(), other);
  }
  writeFileSync(join(folder, 'master.key'), 'nonsense');
  await t.rejects(filesOf(folder).load({ given: NEW }), { message: /^master\.key is damaged/ });
  for (const text of [`${NEW}0`, `x${NEW}`]) {
    writeFileSync(join(folder, 'master.key.next'), text);
    await t.rejects(filesOf(folder).load({ given: NEW }), { message: /is not the one/ }, text);
  }
});

t.test('the new key of an interrupted rotation may be given when the old one was removed', async (t) => {
  const keys = await filesOf(testFolder(t, { 'master.key.next': NEW })).load({ given: NEW });
  t.equal(keys.current.toHex(), NEW);
});

t.test('a rotation that ends with a given key leaves the key in the folder as it is', async (t) => {
  const folder = testFolder(t, { 'master.key': OLD, 'master.key.next': NEW });
  const files = filesOf(folder);
  await files.load({ given: NEW });
  t.equal(await files.finish(), null);
  t.same(readdirSync(folder).sort(), ['master.key', 'master.key.check']);
  t.equal(readFileSync(join(folder, 'master.key'), 'utf8'), OLD);
});

t.test('a rotation of an external key may end with the new key put in the folder', async (t) => {
  const folder = testFolder(t);
  const external = filesOf(folder);
  await external.load({ given: OLD });
  await external.begin(NEW);
  writeFileSync(join(folder, 'master.key'), NEW);
  const files = filesOf(folder);
  t.equal((await files.load()).former?.toHex(), OLD);
  t.equal(await files.finish(), null);
  t.same(readdirSync(folder).sort(), ['master.key', 'master.key.check']);
  t.equal(readFileSync(join(folder, 'master.key'), 'utf8'), NEW);
});

t.test('no former key is kept when its file has been removed', async (t) => {
  const folder = testFolder(t);
  const files = filesOf(folder);
  await files.load();
  await files.begin(undefined);
  rmSync(join(folder, 'master.key'));
  t.equal(await files.finish(), null);
  t.same(readdirSync(folder).sort(), ['master.key', 'master.key.check']);
});

t.test('keys and ciphertexts come from the given source of random bytes', async (t) => {
  const states: [folder: Record<string, string>, given?: string][] = [
    [{}],
    [{ 'master.key': OLD }],
    [{ 'master.key': OLD, 'master.key.next': NEW }],
    [{ 'master.key': OLD, 'master.key.next': NEW }, NEW],
    [{}, OLD],
  ];
  for (const [content, given] of states) {
    const sealed = new Set<string>();
    for (let times = 0; times < 2; times++) {
      const random = seededBytes(1);
      const files = new MasterKeyFiles(testFolder(t, content), realDisk, { clock: systemClock, random });
      const keys = await files.load({ given });
      sealed.add(keys.seal('x'));
      if (keys.former) continue;
      await files.begin(given && NEW);
      sealed.add(keys.seal('x'));
    }
    t.ok(sealed.size <= 2, 'the same each time');
  }
});

t.test('the first start creates a key that only its owner can read; later starts use it', async (t) => {
  const folder = testFolder(t);
  const sealed = (await filesOf(folder).load()).seal('x');
  t.equal(statSync(join(folder, 'master.key')).mode & 0o777, 0o600);
  t.equal((await filesOf(folder).load()).decrypt(sealed), 'x');
});

t.test('a missing key file stops the start with instructions', async (t) => {
  const folder = testFolder(t);
  await filesOf(folder).load();
  rmSync(join(folder, 'master.key'));
  await t.rejects(filesOf(folder).load(), {
    code: 'master_key',
    message: /is missing.*SCENEPRESS_MASTER_KEY/s,
  });
});

t.test('a wrong key stops the start, and nothing is overwritten', async (t) => {
  const folder = testFolder(t);
  await filesOf(folder).load({ given: OLD });
  const check = readFileSync(join(folder, 'master.key.check'));
  await t.rejects(filesOf(folder).load({ given: 'f'.repeat(64) }), {
    code: 'master_key',
    message: /is not the one/,
  });
  t.same(readFileSync(join(folder, 'master.key.check')), check);
  await filesOf(folder).load({ given: OLD });
});

t.test('a malformed key file is reported, and can be replaced', async (t) => {
  const folder = testFolder(t, { 'master.key': 'nonsense' });
  await t.rejects(filesOf(folder).load(), { code: 'master_key' });
  writeFileSync(join(folder, 'master.key'), `${OLD}\n`);
  await filesOf(folder).load();
});
