// Runs tests of renders on the reduced level. `PLACE='root, reduced'` runs a single environment.
import { join } from 'node:path';
import t from 'tap';
import { isRelease, oneOf } from '../fixtures/depth.ts';
import { environments } from '../fixtures/environments.ts';

const TESTS: Record<string, readonly string[]> = {
  'user, reduced': oneOf(3, ['killed-service', 'dying-renderers', 'many-workers']),
  'root, reduced': isRelease ? ['killed-service'] : [],
};

for (const { name, run } of environments(t)) {
  for (const test of TESTS[name] ?? [])
    await run(join(import.meta.dirname, 'lib', `${test}.deep.test.ts`), test);
}
