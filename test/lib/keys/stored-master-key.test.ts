import t from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { MasterKey } from '../../../lib/keys/master-key.ts';
import { type MasterKeyRecords, StoredMasterKey } from '../../../lib/keys/stored-master-key.ts';

const [OLD, NEW, OTHER] = ['1', '2', '3'].map((digit) => digit.repeat(64)) as [string, string, string];
const oldKey = MasterKey.fromHex(OLD);
const newKey = MasterKey.fromHex(NEW);

/** The records of a shared database. */
class Records implements MasterKeyRecords {
  readonly stored = new Map<string, string>();
  reads = 0;

  async read(name: string): Promise<string | undefined> {
    this.reads += 1;
    return this.stored.get(name);
  }

  async add(name: string, content: string): Promise<string> {
    if (!this.stored.has(name)) this.stored.set(name, content);
    return this.stored.get(name) as string;
  }

  async finish(check: string): Promise<void> {
    this.stored.set('check', check);
    this.stored.delete('next');
  }
}

const machine = (records: Records) => new StoredMasterKey(records, { random: systemRandom });

t.test('the first machine determines the key, and others must be given the same', async (t) => {
  const records = new Records();
  const keys = await machine(records).load({ given: OLD });
  t.equal(keys.current.id, oldKey.id);
  t.equal(keys.former, undefined);
  t.equal(oldKey.decrypt(records.stored.get('check') ?? ''), 'scenepress');
  t.equal((await machine(records).load({ given: OLD })).current.id, oldKey.id);
  await t.rejects(machine(records).load({ given: NEW }), {
    code: 'master_key',
    message: /not the one that the secrets in the database are encrypted with/,
  });
  t.equal(oldKey.decrypt(records.stored.get('check') ?? ''), 'scenepress', 'a wrong key changes nothing');
});

t.test('a machine without the key is told how to give it, unless it needs none', async (t) => {
  const records = new Records();
  const missing = { code: 'master_key', message: /SCENEPRESS_MASTER_KEY_FILE/ };
  await t.rejects(machine(records).load(), missing);
  await t.rejects(machine(records).load({}), missing);
  await t.rejects(machine(records).load({ required: true }), missing);
  const keys = await machine(records).load({ required: false });
  t.throws(() => keys.current, { code: 'master_key' });
  t.equal(records.stored.size, 0);
});

t.test('a damaged key is refused', async (t) => {
  const records = new Records();
  await t.rejects(machine(records).load({ given: 'abc' }), {
    code: 'master_key',
    message: 'The master key that was given is damaged: a key is 64 hexadecimal digits.',
    cause: Error,
  });
  const key = machine(records);
  await key.load({ given: OLD });
  await t.rejects(key.begin('abc'), { code: 'master_key', message: /^The new master key is damaged/ });
});

t.test('the records are read once, again after a failure, and after it was closed', async (t) => {
  const records = new Records();
  const key = machine(records);
  await t.rejects(key.load(), { code: 'master_key' });
  const keys = await key.load({ given: OLD });
  const { reads } = records;
  t.equal(await key.load(), keys);
  t.equal(records.reads, reads);
  key.close();
  await t.rejects(key.load(), { code: 'master_key' }, 'the key must be given again');
  t.not(await key.load({ given: OLD }), keys);
});

t.test('during a replacement, machines with either key seal with the new one and decrypt both', async (t) => {
  const records = new Records();
  const first = machine(records);
  const keys = await first.load({ given: OLD });
  const sealed = keys.seal('a secret');
  t.equal(await first.isRotating(), false);
  await first.begin(NEW);
  t.equal(await first.isRotating(), true);
  t.same([keys.current.id, keys.former?.id], [newKey.id, oldKey.id]);
  t.notMatch(records.stored.get('next'), new RegExp(`${OLD}|${NEW}`), 'no key is stored as it is');

  for (const given of [OLD, NEW]) {
    const other = await machine(records).load({ given });
    t.same([other.current.id, other.former?.id], [newKey.id, oldKey.id]);
    t.equal(other.decrypt(sealed), 'a secret');
    t.equal(other.decrypt(keys.seal('a new secret')), 'a new secret');
  }
  await t.rejects(machine(records).load({ given: OTHER }), { code: 'master_key' });

  t.equal(await first.finish(), null);
  t.equal(await first.isRotating(), false);
  t.equal((await machine(records).load({ given: NEW })).former, undefined);
  await t.rejects(machine(records).load({ given: OLD }), { code: 'master_key' });
});

t.test('an interrupted replacement is completed before another begins', async (t) => {
  const records = new Records();
  await machine(records).load({ given: OLD });
  const interrupted = machine(records);
  await interrupted.load({ given: OLD });
  await interrupted.begin(NEW);

  const restarted = machine(records);
  const keys = await restarted.load({ given: OLD });
  await t.rejects(restarted.begin(OTHER), { code: 'conflict', message: /was interrupted/ });
  await t.rejects(restarted.begin(undefined), { code: 'invalid_request', message: /give the new key/ });
  t.equal(keys.current.id, newKey.id);
});

t.test('a replacement by the same key is refused, and nothing is recorded', async (t) => {
  const records = new Records();
  const key = machine(records);
  await key.load({ given: OLD });
  await t.rejects(key.begin(OLD), { code: 'conflict', message: /already in use/ });
  t.equal(await key.isRotating(), false);
});
