import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { realDisk } from '../../../lib/disk.ts';
import { MasterKey, type MasterKeyOptions, MasterKeys } from '../../../lib/index.ts';
import { MasterKeyFiles } from '../../../lib/keys/master-key-files.ts';

const HEX = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';

function load(folder: string, options: MasterKeyOptions = {}): Promise<MasterKeys> {
  return new MasterKeyFiles(folder, realDisk).load(options);
}

t.test('a key decrypts what it encrypted, and no two ciphertexts are equal', async (t) => {
  const key = MasterKey.fromHex(HEX);
  t.equal(key.open(key.seal('whsec_ü')), 'whsec_ü');
  t.not(key.seal('x'), key.seal('x'));
});

t.test('a key is read from hexadecimal digits in either case, with white space around them', async (t) => {
  for (const text of [HEX, HEX.toUpperCase(), ` ${HEX}\n`]) {
    const key = MasterKey.fromHex(text);
    t.equal(key.toHex(), HEX);
    t.equal(key.id, 'b958dc31', 'stored secrets name their key by this id');
  }
});

t.test('a key opens one of several texts when it sealed one of them', async (t) => {
  const key = MasterKey.fromHex(HEX);
  const foreign = MasterKey.random().seal('x');
  t.equal(key.opens(foreign), false);
  t.equal(key.opens([foreign, key.seal('x')]), true);
  t.equal(key.opens([]), false);
});

t.test('another key or an altered ciphertext is rejected', async (t) => {
  const key = MasterKey.fromHex(HEX);
  const sealed = key.seal('secret');
  t.throws(() => MasterKey.fromHex('f'.repeat(64)).open(sealed), { code: 'master_key' });
  const bytes = Buffer.from(sealed, 'base64url');
  bytes[14] = (bytes[14] as number) ^ 1;
  t.throws(() => key.open(bytes.toString('base64url')), { code: 'master_key' });
  t.throws(() => key.open(''), { code: 'master_key' });
});

t.test('a ciphertext contains the id of its key', async (t) => {
  const key = MasterKey.fromHex(HEX);
  const [id, rest] = key.seal('secret').split('.');
  t.match(key.id, /^[0-9a-f]{8}$/);
  t.notOk(HEX.includes(key.id));
  t.equal(id, key.id);
  const cause = { message: /sealed with the master key 00000000/ };
  t.throws(() => key.open(`00000000.${rest}`), { code: 'master_key', cause });
});

t.test('current and former key decrypt, the current one encrypts', async (t) => {
  const [former, next] = [MasterKey.fromHex(HEX), MasterKey.random()];
  const keys = new MasterKeys(former);
  const before = keys.seal('before');
  keys.change(next);
  t.equal(keys.open(before), 'before');
  t.ok(next.opens(keys.reseal(before)));
  const after = keys.seal('after');
  t.ok(next.opens(after));
  t.equal(keys.reseal(after), after, 'it is already encrypted with the current key');
  t.throws(() => keys.open(MasterKey.random().seal('x')), { code: 'master_key' });
  t.throws(() => keys.change(next), { code: 'conflict' });
  t.throws(() => new MasterKeys(next).open(before), { code: 'master_key' }, 'without a former key');
});

t.test('the first start creates a key that only its owner can read; later starts use it', async (t) => {
  const folder = t.testdir();
  const sealed = (await load(folder)).seal('x');
  t.equal(statSync(join(folder, 'master.key')).mode & 0o777, 0o600);
  t.equal((await load(folder)).open(sealed), 'x');
});

t.test('a missing key file stops the start with instructions', async (t) => {
  const folder = t.testdir();
  await load(folder);
  rmSync(join(folder, 'master.key'));
  await t.rejects(load(folder), {
    code: 'master_key',
    message: /is missing.*SCENEPRESS_MASTER_KEY/s,
  });
});

t.test('a wrong key stops the start, and nothing is overwritten', async (t) => {
  const folder = t.testdir();
  await load(folder, { given: HEX });
  const check = readFileSync(join(folder, 'master.key.check'));
  await t.rejects(load(folder, { given: 'f'.repeat(64) }), {
    code: 'master_key',
    message: /is not the one/,
  });
  t.same(readFileSync(join(folder, 'master.key.check')), check);
  await load(folder, { given: HEX });
});

t.test('a malformed key is reported as such', async (t) => {
  for (const text of ['', 'abc', 'z'.repeat(64), HEX.slice(2), `${HEX}00`, `${HEX} x`, `${HEX}z0`]) {
    t.throws(() => MasterKey.fromHex(text), { code: 'master_key', message: /32 bytes/ }, text);
  }
  const folder = t.testdir({ 'master.key': 'nonsense' });
  await t.rejects(load(folder), { code: 'master_key' });
  writeFileSync(join(folder, 'master.key'), `${HEX}\n`);
  await load(folder);
});
