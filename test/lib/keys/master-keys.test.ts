import t from 'tap';
import { MasterKey, MasterKeys } from '../../../lib/index.ts';

const HEX = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';

t.test('without a key, its uses are errors', async (t) => {
  const keys = new MasterKeys(null);
  const [key, missing] = [MasterKey.random(), { code: 'master_key', message: /set SCENEPRESS_MASTER_KEY/ }];
  t.throws(() => keys.current, missing);
  t.throws(() => keys.seal('x'), missing);
  t.throws(() => keys.decrypt(key.seal('x')), missing);
  t.throws(() => keys.reseal(key.seal('x')), missing);
  t.throws(() => keys.change(key), missing);
});

t.test('current and former key decrypt, the current one encrypts', async (t) => {
  const [former, next] = [MasterKey.fromHex(HEX), MasterKey.random()];
  const keys = new MasterKeys(former);
  const before = keys.seal('before');
  keys.change(next);
  t.same([keys.current, keys.former], [next, former]);
  t.equal(keys.decrypt(before), 'before');
  t.ok(next.decrypts(keys.reseal(before)));
  const after = keys.seal('after');
  t.ok(next.decrypts(after));
  t.equal(keys.reseal(after), after, 'it is already encrypted with the current key');
  t.throws(() => keys.decrypt(MasterKey.random().seal('x')), { code: 'master_key' });
  t.throws(() => keys.change(next), { code: 'conflict' });
  t.throws(() => new MasterKeys(next).decrypt(before), { code: 'master_key' }, 'without a former key');
});
