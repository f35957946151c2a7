import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const LIB = join(import.meta.dirname, '../../lib');
/** Reads of the system's clock and of its random source, which lint cannot tell apart. */
const SOURCES = [
  // The verifier of webhooks imports nothing of the library; `now` is an option.
  { taken: /Date\.now|new Date\(\)|AbortSignal\.timeout/, by: ['clock.ts', 'webhooks/signature.ts'] },
  {
    taken: /Math\.random|getRandomValues|\brandom(Bytes|UUID|Int|Fill|FillSync)\b/,
    by: ['client/random-key.ts', 'random.ts'],
  },
];

for (const { taken, by } of SOURCES) {
  t.test(`only ${by} of lib has ${taken}`, async (t) => {
    const files = readdirSync(LIB, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const takers = files.filter((name) => taken.test(readFileSync(join(LIB, name), 'utf8')));
    t.same(takers.sort(), by);
  });
}
