import t from 'tap';
import { ScenepressError } from '../../../../lib/index.ts';
import { withSpareSpace } from '../../../../lib/jobs/end/with-spare-space.ts';

/** A step that fails with the given errors first. */
function failing(...errors: Error[]) {
  let calls = 0;
  const step = async () => {
    calls += 1;
    const error = errors.shift();
    if (error) throw error;
    return 'done';
  };
  return { step, calls: () => calls };
}

t.test('a step that finds the disk full is repeated once', async (t) => {
  const full = () => new ScenepressError('storage_full', 'The disk is full.');
  const once = failing(full());
  t.equal(await withSpareSpace(once.step), 'done');
  t.equal(once.calls(), 2);
  const twice = failing(full(), full());
  await t.rejects(withSpareSpace(twice.step), { code: 'storage_full' });
  t.equal(twice.calls(), 2);
});

t.test('other steps are not repeated', async (t) => {
  const failed = failing(new ScenepressError('storage_failed', 'A write failed.'));
  await t.rejects(withSpareSpace(failed.step), { code: 'storage_failed' });
  t.equal(failed.calls(), 1);
  const good = failing();
  await withSpareSpace(good.step);
  t.equal(good.calls(), 1);
});
