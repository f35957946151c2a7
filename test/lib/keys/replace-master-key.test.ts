import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DataFolder, MasterKey } from '../../../lib/index.ts';
import { completeReplacement, replaceMasterKey } from '../../../lib/operations.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const [OLD, NEW, THIRD] = ['aa'.repeat(32), 'bb'.repeat(32), 'cc'.repeat(32)];

t.test(
  'a replacement that is interrupted is completed first, then the key that was given is used',
  async (t) => {
    const path = testFolder(t);
    const folder = new DataFolder(path);
    await folder.start();
    t.teardown(() => folder.stop());
    const keys = await folder.masterKeys({ given: OLD });
    t.equal(await completeReplacement(folder, { reseal: async () => t.fail('there is none') }), false);
    const stopped = async () => {
      throw new Error('stopped');
    };
    await t.rejects(replaceMasterKey(folder, { given: NEW, reseal: stopped }), {
      code: 'storage_failed',
      message: /^Error: stopped The master key is not yet replaced everywhere/,
      cause: { message: 'stopped' },
    });
    t.equal(keys.current.toHex(), NEW);

    let reseals = 0;
    const reseal = async () => void reseals++;
    t.equal(await replaceMasterKey(folder, { given: NEW, reseal }), null);
    t.equal(reseals, 1, 'completed, as the key is the same');
    t.equal(keys.former?.toHex(), OLD);

    await t.rejects(replaceMasterKey(folder, { given: OLD, reseal: stopped }));
    reseals = 0;
    await replaceMasterKey(folder, { given: THIRD, reseal });
    t.equal(reseals, 2, 'completed, and then replaced');
    t.equal(keys.current.toHex(), THIRD);

    await t.rejects(replaceMasterKey(folder, { given: OLD, reseal: stopped }));
    t.equal(await completeReplacement(folder, { reseal }), true);
    t.equal(reseals, 3);
    t.equal(existsSync(join(path, 'master.key.next')), false);
  },
);

t.test('a replacement without a given key completes an interrupted one, and stops there', async (t) => {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const keys = await folder.masterKeys();
  const before = keys.current;
  const stopped = async () => {
    throw new Error('stopped');
  };
  await t.rejects(replaceMasterKey(folder, { reseal: stopped }), { message: /both keys are needed/ });
  const { current } = keys;
  t.not(current, before);
  const former = await replaceMasterKey(folder, { reseal: async () => {} });
  t.equal(keys.current, current, 'no further key is generated');
  t.equal(readFileSync(join(folder.path, former as string), 'utf8').trim(), before.toHex());
});

t.test('the error code of a failed replacement is that of its cause', async (t) => {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  await folder.masterKeys();
  const cause = MasterKey.fromHex(OLD);
  const reseal = async () => void cause.decrypt('x');
  await t.rejects(replaceMasterKey(folder, { reseal }), {
    code: 'master_key',
    message: /^The secrets were encrypted with another master key\. The master key is not yet replaced/,
  });
});

t.test('one replacement is in progress at a time', async (t) => {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  await folder.masterKeys();
  const message = `The master key of ${folder.path} is already being replaced.`;
  const reseal = async () => {
    const second = replaceMasterKey(folder, { reseal: async () => {} });
    await t.rejects(second, { code: 'conflict', message });
  };
  await replaceMasterKey(folder, { reseal });
  await replaceMasterKey(folder, { reseal });
});
