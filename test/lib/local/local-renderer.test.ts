import { join } from 'node:path';
import t from 'tap';
import { LocalRenderer } from '../../../lib/index.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const PYTHON = join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python');

t.test('a signal aborts the start', async (t) => {
  const renderer = new LocalRenderer({
    folder: testFolder(t),
    workers: 1,
    renderer: { python: PYTHON, insecureNoSandbox: true },
  });
  t.teardown(() => renderer.stop());
  await t.rejects(renderer.start({ signal: AbortSignal.abort() }), { name: 'AbortError' });
});
