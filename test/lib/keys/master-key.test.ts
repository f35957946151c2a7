import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadMasterKey, MasterKey } from '../../../lib/index.ts';

const HEX = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';

t.test('what it seals it opens, and no two seals are alike', async (t) => {
  const key = MasterKey.fromHex(HEX);
  t.equal(key.open(key.seal('whsec_ü')), 'whsec_ü');
  t.not(key.seal('x'), key.seal('x'));
});

t.test('another key, or an altered text, is refused', async (t) => {
  const key = MasterKey.fromHex(HEX);
  const sealed = key.seal('secret');
  t.throws(() => MasterKey.fromHex('f'.repeat(64)).open(sealed), { code: 'master_key' });
  const bytes = Buffer.from(sealed, 'base64url');
  bytes[14] = (bytes[14] as number) ^ 1;
  t.throws(() => key.open(bytes.toString('base64url')), { code: 'master_key' });
  t.throws(() => key.open(''), { code: 'master_key' });
});

t.test('the first start makes a key that only its owner can read; later starts use it', async (t) => {
  const folder = t.testdir();
  const sealed = (await loadMasterKey(folder)).seal('x');
  t.equal(statSync(join(folder, 'master.key')).mode & 0o777, 0o600);
  t.equal((await loadMasterKey(folder)).open(sealed), 'x');
});

t.test('a missing key file stops the start with instructions', async (t) => {
  const folder = t.testdir();
  await loadMasterKey(folder);
  rmSync(join(folder, 'master.key'));
  await t.rejects(loadMasterKey(folder), {
    code: 'master_key',
    message: /is missing.*SCENEPRESS_MASTER_KEY/s,
  });
});

t.test('a wrong key stops the start and nothing is overwritten', async (t) => {
  const folder = t.testdir();
  await loadMasterKey(folder, { given: HEX });
  const check = readFileSync(join(folder, 'master.key.check'));
  await t.rejects(loadMasterKey(folder, { given: 'f'.repeat(64) }), {
    code: 'master_key',
    message: /is not the one/,
  });
  t.same(readFileSync(join(folder, 'master.key.check')), check);
  await loadMasterKey(folder, { given: HEX });
});

t.test('a key that is none is named as such', async (t) => {
  for (const text of ['', 'abc', 'z'.repeat(64), HEX.slice(2)]) {
    t.throws(() => MasterKey.fromHex(text), { code: 'master_key', message: /32 bytes/ }, text);
  }
  const folder = t.testdir({ 'master.key': 'nonsense' });
  await t.rejects(loadMasterKey(folder), { code: 'master_key' });
  writeFileSync(join(folder, 'master.key'), `${HEX}\n`);
  await loadMasterKey(folder);
});
