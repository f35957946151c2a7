import t from 'tap';
import { listedAddresses, resolveName } from '../../../lib/webhooks/resolver.ts';

t.test('the hosts file takes precedence', async (t) => {
  const hosts =
    '# names\n127.0.0.1 localhost\n10.1.2.3\thook.studio hook # ours\n::1 localhost\n10.1.2.4 Hook.Studio\n';
  t.same(listedAddresses(hosts, 'hook.studio'), ['10.1.2.3', '10.1.2.4']);
  t.same(listedAddresses(hosts, 'HOOK.'), ['10.1.2.3']);
  t.same(listedAddresses(hosts, 'ours'), []);
  t.ok((await resolveName('localhost', AbortSignal.timeout(5_000))).includes('127.0.0.1'));
});

t.test('a lookup can be aborted', async (t) => {
  const startedAt = performance.now();
  await resolveName('a-name-that-nobody-has.invalid', AbortSignal.timeout(100)).catch(() => {});
  t.ok(performance.now() - startedAt < 5_000);
});
