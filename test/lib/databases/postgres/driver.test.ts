import { registerHooks } from 'node:module';
import t from 'tap';
import { postgres } from '../../../../lib/postgres/index.ts';

t.test('without its driver, a storage in Postgres says what to install', async (t) => {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      return next(specifier === 'pg' ? 'a-package-that-is-not-installed' : specifier, context);
    },
  });
  t.teardown(() => hooks.deregister());
  const storage = postgres('postgres://localhost/none');
  await t.rejects(storage.start(), {
    code: 'storage_failed',
    message: /not installed\. Run: node scripts\/setup\.mjs --npm-only$/,
  });
});
