import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { SqliteDatabase } from '../../../lib/databases/sqlite/sqlite-database.ts';
import { LIST_INDEXES } from '../../../lib/sql/schema/list-indexes.ts';
import { SqlStorage } from '../../../lib/sql/sql-storage.ts';
import { SQLITE_SCHEMA } from '../../../lib/sql/sqlite/schema.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { recording, runQueries } from '../../fixtures/all-queries.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

/** Subqueries that are computed by the query itself. */
const COMPUTED = / (page|due|found)$/;
/** The sums over all owners with jobs, which are few. */
const TOTALS = / AS owners FROM turns$/;

t.test('queries of the service use indexes and scan no table', async (t) => {
  const path = join(testFolder(t), 'database.sqlite');
  const { database, texts } = recording(new SqliteDatabase(path, SQLITE_SCHEMA, { clock: systemClock }));
  const storage = new SqlStorage(database, systemRandom);
  await storage.start();
  t.teardown(() => storage.stop());
  await runQueries(database, storage);

  const reader = new DatabaseSync(path, { readOnly: true });
  t.teardown(() => reader.close());
  let artifacts = '';
  const used = new Set<string>();
  for (const text of texts) {
    const plan = reader.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[];
    const details = plan.map(({ detail }) => detail);
    const scans = details.filter((detail) => /^SCAN \w+$/.test(detail) && !COMPUTED.test(detail));
    t.same(scans, TOTALS.test(text) ? ['SCAN turns'] : [], text.slice(-120));
    // An account has few grants, and the rows of a recursion are computed.
    const sorts = details.filter(
      (detail, i) =>
        / B-TREE FOR /.test(detail) &&
        !COMPUTED.test(details[i - 1] ?? '') &&
        !text.includes(' FROM grants ') &&
        !text.includes(' FROM found '),
    );
    t.same(sorts, [], `sorts only computed pages: ${text.slice(-120)}`);
    for (const [, name = ''] of details.join().matchAll(/USING (?:COVERING )?INDEX (\w+)/g)) used.add(name);
    if (text.includes('AND artifacts_removed_at_ms IS NULL')) artifacts = details.join();
  }
  t.match(artifacts, 'USING INDEX jobs_with_artifacts');
  const ofLists = [...LIST_INDEXES.matchAll(/CREATE INDEX (\w+)/g)].map(([, name]) => name ?? '');
  t.same(
    ofLists.filter((name) => !used.has(name)),
    [],
    'each index of the lists is used',
  );
});
