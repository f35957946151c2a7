import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DataFolder } from '../../../lib/index.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

for (const content of ['', '\0'.repeat(512)]) {
  t.test(
    `a start after a first one of which only a journal with ${content.length} bytes is left`,
    async (t) => {
      const folder = testFolder(t, {});
      writeFileSync(join(folder, 'database.sqlite-journal'), content);
      const dataFolder = new DataFolder(folder);
      t.teardown(() => dataFolder.stop());
      await dataFolder.start();
      t.same(await dataFolder.storage.unfinishedJobs(), []);
    },
  );
}
