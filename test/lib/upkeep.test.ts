import t from 'tap';
import type { Storage } from '../../lib/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { Upkeep, type UpkeepOptions } from '../../lib/upkeep.ts';

function upkeepOf({ check }: Pick<Storage, 'check'>): { upkeep: Upkeep; errors: [object, string][] } {
  const errors: [object, string][] = [];
  const logger = { info: () => {}, error: (...args: [object, string]) => errors.push(args) };
  const alone = (_office: string, work: () => Promise<unknown>) => work();
  const storage = { alone, ...(check && { check }) };
  const options = { storage, ledger: {}, logger: logger as unknown as Logger };
  return { upkeep: new Upkeep(options as unknown as UpkeepOptions), errors };
}

t.test('damage that the nightly check finds is logged', async (t) => {
  const { upkeep, errors } = upkeepOf({ check: async () => ['row 2 missing from index jobs_in_phase'] });
  await upkeep.nightly();
  t.match(errors, [[{ problems: [/row 2/] }, /The storage is damaged.*scenepress recover/]]);
});

t.test('a storage that is whole, or can not be checked, is no error', async (t) => {
  for (const storage of [{ check: async () => [] }, {}]) {
    const { upkeep, errors } = upkeepOf(storage);
    await upkeep.nightly();
    t.same(errors, []);
  }
});
