import t from 'tap';
import { MasterKey } from '../../../lib/index.ts';
import { SecretsCheck, wrongKey } from '../../../lib/keys/sealed-secrets.ts';

const key = MasterKey.fromHex('aa'.repeat(32));
const other = MasterKey.fromHex('bb'.repeat(32));

t.test('secrets of keys, jobs and accounts are counted, without a master key, too', async (t) => {
  for (const masterKey of [key, undefined]) {
    const check = new SecretsCheck(masterKey);
    t.equal(check.count, 0);
    check.addKey({ prefix: 'svc_live_1234567', webhookSecretSealed: key.seal('x') });
    check.addJob({ webhookSecretSealed: key.seal('y') });
    check.addJob({ webhookSecretSealed: key.seal('z') });
    check.addJob({});
    check.addAccount({ totpSecretSealed: key.seal('s') });
    check.addAccount({});
    t.equal(check.count, 4);
    t.same(check.found, { keyPrefixes: ['svc_live_1234567'], jobs: 2, accounts: 1 });
    check.assertDecrypts();
  }
});

t.test('a master key that does not decrypt every secret is rejected', async (t) => {
  const check = new SecretsCheck(key);
  check.addKey({ prefix: 'one', webhookSecretSealed: key.seal('x') });
  check.addKey({ prefix: 'two', webhookSecretSealed: other.seal('y') });
  t.throws(() => check.assertDecrypts(), { code: 'master_key', message: /it decrypts 1 of 2 secrets/ });
  check.addAccount({ totpSecretSealed: other.seal('z') });
  t.throws(() => check.assertDecrypts(), { code: 'master_key', message: /it decrypts 1 of 3 secrets/ });
});

t.test('the error says why the key is wrong', async (t) => {
  t.match(wrongKey('no reason'), {
    code: 'master_key',
    message: /encrypted with: no reason\. Nothing was.*master\.key\.until-….$/,
  });
});
