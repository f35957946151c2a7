import t from 'tap';
import { DataFolder } from '../../lib/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { listeningAppliance } from './listening-appliance.ts';

t.test('accepted requests count as a use of their key, at the latest when the service stops', async (t) => {
  const dataDir = await temporaryFolder(t);
  const { key, askAs, installation, newKey, stop } = await listeningAppliance(t, { dataDir });
  const unused = await newKey('eve@example.org');
  const [used, other] = (await installation.administration.keys.list({})).keys;
  t.match([used?.lastUsedAt, other?.lastUsedAt], [null, null]);
  const before = Date.now();
  t.equal((await askAs(key, '/api/v2/me')).status, 200);
  t.equal((await askAs(`${unused.slice(0, -1)}x`, '/api/v2/me')).status, 401);
  await stop();

  const folder = new DataFolder(dataDir);
  await folder.start();
  t.teardown(() => folder.stop());
  const uses = await folder.keyUseStore.lastKeyUses([String(used?.keyId), String(other?.keyId)]);
  t.same(
    uses.map(({ keyId }) => keyId),
    [used?.keyId],
  );
  t.ok((uses[0]?.usedAtMs ?? 0) >= before);
});
