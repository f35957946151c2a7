// Checks of several sources that are only read.
import t from 'tap';
import { DEFAULT_BUDGETS, Fairness } from '../../../../lib/jobs/fairness/fairness.ts';
import { checkManyOfOwner, checkOfOwner } from '../../../../lib/jobs/run/check-scenes.ts';
import { ShortRuns } from '../../../../lib/jobs/run/short-runs.ts';
import { ROLES } from '../../../../lib/model/roles.ts';
import type { ReadTask } from '../../../../lib/render/reading/scene-reader.ts';
import type { Storage } from '../../../../lib/storage/storage.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const NO_FILES = { files: { list: async () => [] } as Partial<Storage['files']> as Storage['files'] };

/** Reads all sources but those with the text `late`. */
function partsOf() {
  const clock = new FakeClock('2026-11-26T10:00:00Z');
  const shortRuns = new ShortRuns(
    new Fairness({ storage: {} as Storage, clock, budgets: { ...DEFAULT_BUDGETS } }),
  );
  let reading = 0;
  const most = { atOnce: 0 };
  const never = () => Promise.reject(new Error('nothing is run'));
  const renderer = {
    listScenes: never,
    check: never,
    read: async ({ code }: ReadTask) => {
      most.atOnce = Math.max(most.atOnce, ++reading);
      await Promise.resolve();
      reading -= 1;
      return String(code).includes('late') ? undefined : { findings: [], params: [] };
    },
  };
  return {
    most,
    parts: { renderer, shortRuns, roles: ROLES, tex: undefined, storage: NO_FILES, workers: 8 },
  };
}

const READ = { dryRun: false };
const GOOD = { ok: true, findings: [], params: [], scenes: [] };

t.test('one that could not be read in time is told, and the others are answered', async (t) => {
  const { parts } = partsOf();
  const found = await checkManyOfOwner(parts, ['a', 'late', 'b'], READ);
  t.same([found[0], found[2]], [GOOD, GOOD]);
  t.match(found[1], {
    ok: false,
    findings: [
      {
        kind: 'limit:time',
        severity: 'error',
        line: null,
        message: 'The code could not be read in time.',
        hint: 'Try again, or let the check run it.',
      },
    ],
    params: [],
    scenes: [],
  });
});

t.test('if none could be read, or the only one, that is an error', async (t) => {
  const { parts } = partsOf();
  const late = { code: 'renderer_unavailable', message: /could not be read in time\. Try again/ };
  await t.rejects(checkManyOfOwner(parts, ['late', 'late 2'], READ), late);
  await t.rejects(checkOfOwner(parts, 'late', READ), late);
  t.same(await checkManyOfOwner(parts, [], READ), []);
});

t.test('few wait for the reader, which reads one after another', async (t) => {
  const { parts, most } = partsOf();
  await checkManyOfOwner(
    parts,
    Array.from({ length: 20 }, (_, index) => `a${index}`),
    READ,
  );
  t.equal(most.atOnce, 2);
});
