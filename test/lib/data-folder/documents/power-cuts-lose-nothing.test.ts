import t from 'tap';
import { Documents } from '../../../../lib/data-folder/documents/documents.ts';
import { seededRandom } from '../../../fixtures/seeded-random.ts';
import { PowerCut, SimulatedDisk } from '../../../fixtures/simulated-disk.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

function isPowerCut(error: unknown): boolean {
  return error instanceof PowerCut || (error instanceof Error && isPowerCut(error.cause));
}

t.test(
  'a power cut loses no acknowledged change, and other changes are stored completely or not at all',
  async (t) => {
    const path = testFolder(t);
    let cuts = 0;
    for (let callsLeft = 0; ; callsLeft += 1) {
      let over = false;
      for (let seed = 1; seed <= 4; seed += 1) {
        const disk = new SimulatedDisk(seededRandom(seed));
        const acknowledged = new Map<string, string>();
        let asked = 0;
        disk.callsLeft = callsLeft;
        const place = { disk, folder: path, onFullDisk: async () => {} };
        const documents = new Documents(place);
        const work = async () => {
          await documents.start();
          for (asked = 1; asked <= 5; asked += 1) {
            const accountId = `acct_${asked}`;
            await documents.accounts.insertAccount({
              accountId,
              email: `${asked}@example.org`,
              createdAtMs: asked,
            });
            acknowledged.set(accountId, `${asked}@example.org`);
          }
        };
        const error = await work().then(
          () => undefined,
          (error: Error) => error,
        );
        if (error && !isPowerCut(error)) t.fail(`${callsLeft} calls: ${error.message}`);
        over ||= error === undefined;
        if (error) cuts += 1;
        disk.callsLeft = 0;
        await documents.stop().catch(() => {});
        disk.cutPower();

        const again = new Documents(place);
        await again.start();
        const found = await again.accounts.listAccounts();
        for (const [accountId, email] of acknowledged) {
          if (!found.some((account) => account.accountId === accountId && account.email === email))
            return t.fail(`${accountId} is lost after ${callsLeft} calls, seed ${seed}`);
        }
        if (found.length > Math.min(asked, 5)) return t.fail(`${found.length} accounts of ${asked}`);
        await again.stop();
      }
      if (over) break;
    }
    t.ok(cuts > 100, `${cuts} power cuts`);
    return undefined;
  },
);
