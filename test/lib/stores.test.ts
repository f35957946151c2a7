import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder } from '../../lib/index.ts';
import { LateStores } from '../fixtures/late-stores.ts';
import { ACCOUNTS } from '../fixtures/stores/accounts.ts';
import { ACTS } from '../fixtures/stores/acts.ts';
import { type Behaviours, type Open, testBehaviours } from '../fixtures/stores/behaviours.ts';
import { DELIVERIES } from '../fixtures/stores/deliveries.ts';
import { DELIVERY_CLAIMS } from '../fixtures/stores/delivery-claims.ts';
import { JOBS } from '../fixtures/stores/jobs.ts';
import { KEY_USES } from '../fixtures/stores/key-uses.ts';
import { KEYS } from '../fixtures/stores/keys.ts';
import { QUEUE } from '../fixtures/stores/queue.ts';
import { SESSIONS } from '../fixtures/stores/sessions.ts';
import { SETTINGS } from '../fixtures/stores/settings.ts';
import { TWO_FACTOR } from '../fixtures/stores/two-factor.ts';
import { testFolder } from '../fixtures/test-folder.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
/** A behavior that needs one call to be in progress when the next is made. */
const IN_ORDER = /keys that are being written/;
let folders = 0;

/** Tests a store of data folders, and again when its calls are carried out and answered late. */
function test<T extends object>(
  name: string,
  storeOf: (folder: DataFolder) => T,
  behaviours: Behaviours<T>,
): void {
  const opening =
    (t: Test, wrap: (store: T) => T): Open<T> =>
    async () => {
      const folder = new DataFolder(join(t.testdirName, String(folders++)));
      await folder.start();
      return { subject: wrap(storeOf(folder)), close: () => folder.stop() };
    };
  t.test(name, async (t) => {
    testFolder(t);
    await testBehaviours(
      t,
      opening(t, (store) => store),
      behaviours,
    );
  });
  t.test(`${name}, when calls are carried out and answered late`, async (t) => {
    testFolder(t);
    t.comment(`SEED=${SEED}`);
    const late = new LateStores(SEED);
    const anyOrder = Object.entries(behaviours).filter(([title]) => !IN_ORDER.test(title));
    await testBehaviours(
      t,
      opening(t, (store) => late.of(store)),
      Object.fromEntries(anyOrder),
    );
  });
}

test('the SQLite storage', ({ storage }) => storage, JOBS);
test('the SQLite storage, for deliveries', ({ storage }) => storage, DELIVERIES);
test('the SQLite storage, for claims on deliveries', ({ storage }) => storage, DELIVERY_CLAIMS);
test('the SQLite storage, for its queue', ({ storage }) => storage, QUEUE);
test('the accounts document', ({ accountStore }) => accountStore, ACCOUNTS);
test('second factors in the accounts document', ({ accountStore }) => accountStore, TWO_FACTOR);
test('the settings document', ({ settings }) => settings, SETTINGS);
test('the SQLite sessions', ({ sessionStore }) => sessionStore, SESSIONS);
test('the SQLite record of acts', ({ actStore }) => actStore, ACTS);
test('the SQLite uses of keys', ({ keyUseStore }) => keyUseStore, KEY_USES);
test('the keys document', ({ keyStore }) => keyStore, KEYS);
