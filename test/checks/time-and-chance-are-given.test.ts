import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const LIB = join(import.meta.dirname, '../../lib');
/** Reads of the system's clock and of its random source, which lint cannot tell apart. */
const SOURCES = [
  // The verifier of webhooks imports no clock, to stay small; `now` is an option.
  {
    what: 'the time',
    taken: /Date\.now|new Date\(\)|AbortSignal\.timeout|process\.hrtime/,
    by: ['time/clock.ts', 'webhooks/signature.ts'],
  },
  {
    what: 'random bytes',
    taken: /Math\.random|getRandomValues|\brandom(Bytes|UUID|Int|Fill|FillSync)\b/,
    by: ['client/random-key.ts', 'base/random.ts'],
  },
  {
    what: 'the clock or the random source of the system',
    taken: /\bsystem(Clock|Random)\b/,
    by: [
      // Defaults of what the package exports. Inside the library, clock and random source are required.
      'accounts/accounts.ts',
      'accounts/two-factor.ts',
      'assets/s3/s3-asset-store.ts',
      'assets/store-failure.ts',
      'client/client.ts',
      'data-folder/data-folder.ts',
      'files/folder-lock.ts',
      'internal.ts',
      'keys/api-keys.ts',
      'keys/master-key.ts',
      'keys/master-keys.ts',
      'ledger/stored-ledger.ts',
      'local/local-renderer.ts',
      'operations/migration/copied-installation.ts',
      'postgres/postgres-storage.ts',
      'operations/recovery/recover.ts',
      'render/setup/unpacked-root.ts',
      'service/service-parts.ts',
      'sql/sql-stores.ts',
      'testing/fake-renderer.ts',
      'testing/signals.ts',
      'testing/suite.ts',
      'web/web-handler.ts',
      'webhooks/deliveries.ts',
      // Threads, which are handed plain data.
      'render/pool/thread.ts',
      'webhooks/sending-thread.ts',
      // Names that no scene can guess, not even in a simulation.
      'render/end/remove-folder.ts',
      'time/clock.ts',
      'base/random.ts',
    ],
  },
];

/** A file without the examples of its documentation. */
function codeOf(path: string): string {
  return readFileSync(path, 'utf8').replaceAll(/^ *\/\*\*.*?\*\//gms, '');
}

for (const { what, taken, by } of SOURCES) {
  t.test(`only listed files of lib take ${what}`, async (t) => {
    const files = readdirSync(LIB, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const takers = files.filter((name) => taken.test(codeOf(join(LIB, name))));
    t.same(takers.sort(), by.sort());
  });
}
