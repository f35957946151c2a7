import { registerHooks } from 'node:module';
import t from 'tap';
import { s3 } from '../../../lib/assets/s3/index.ts';

t.test('a start without the AWS SDK says what to install', async (t) => {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== '@aws-sdk/client-s3') return next(specifier, context);
      const error = new Error(`Cannot find package '${specifier}' imported from …`);
      throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' });
    },
  });
  t.teardown(() => hooks.deregister());
  await t.rejects(s3({ bucket: 'renders' }).start(), {
    code: 'storage_failed',
    message: /needs the package @aws-sdk\/client-s3.*Run: node scripts\/setup\.mjs --npm-only$/,
  });
});
