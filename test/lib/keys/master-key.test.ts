import t from 'tap';
import { MasterKey } from '../../../lib/index.ts';

const HEX = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';

t.test('a key decrypts what it encrypted, and no two ciphertexts are equal', async (t) => {
  const key = MasterKey.fromHex(HEX);
  t.equal(key.decrypt(key.seal('whsec_ü')), 'whsec_ü');
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
  t.equal(key.decrypts(foreign), false);
  t.equal(key.decrypts([foreign, key.seal('x')]), true);
  t.equal(key.decrypts([]), false);
});

t.test('another key or an altered ciphertext is rejected', async (t) => {
  const key = MasterKey.fromHex(HEX);
  const sealed = key.seal('secret');
  t.throws(() => MasterKey.fromHex('f'.repeat(64)).decrypt(sealed), { code: 'master_key' });
  const bytes = Buffer.from(sealed, 'base64url');
  bytes[14] = (bytes[14] as number) ^ 1;
  t.throws(() => key.decrypt(bytes.toString('base64url')), { code: 'master_key' });
  t.throws(() => key.decrypt(''), { code: 'master_key' });
});

t.test('a ciphertext contains the id of its key', async (t) => {
  const key = MasterKey.fromHex(HEX);
  const [id, rest] = key.seal('secret').split('.');
  t.match(key.id, /^[0-9a-f]{8}$/);
  t.notOk(HEX.includes(key.id));
  t.equal(id, key.id);
  const cause = { message: /sealed with the master key 00000000/ };
  t.throws(() => key.decrypt(`00000000.${rest}`), { code: 'master_key', cause });
});

t.test('a malformed key is reported as such', async (t) => {
  for (const text of ['', 'abc', 'z'.repeat(64), HEX.slice(2), `${HEX}00`, `${HEX} x`, `${HEX}z0`]) {
    t.throws(() => MasterKey.fromHex(text), { code: 'master_key', message: /32 bytes/ }, text);
  }
});
