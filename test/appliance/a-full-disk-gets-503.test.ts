import { join } from 'node:path';
import t from 'tap';
import { fill, smallDisk } from '../fixtures/small-disk.ts';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const skip = process.getuid?.() === 0 ? false : 'only root may mount a disk';

t.test('on a full disk render requests get 503 with Retry-After, and others succeed', { skip }, async (t) => {
  const disk = smallDisk(t, 24) as string;
  // The job runs forever.
  const { post, ask, askAs, key, log, installation } = await listeningAppliance(t, {
    dataDir: join(disk, 'data'),
  });
  const { jobId } = (await post(VALID)).json;
  t.match((await ask('/health/ready')).json, { status: 'ready', disk: 'ok' });
  const filler = fill(disk);
  while ((await post({ ...VALID, metadata: 'x'.repeat(50_000) })).status === 202);

  for (let i = 0; i < 10; i++) {
    const { status, headers, json } = await post(VALID);
    t.equal(status, 503);
    t.match(headers['retry-after'], /^\d+$/);
    t.strictSame(json, {
      error: 'Service Unavailable',
      message: 'The disk of the service is full: no jobs are accepted until there is space. Try again later.',
    });
  }
  t.equal(log().match(/The disk is full/g)?.length, 1, 'it is logged once');
  t.equal((log().match(/"msg":"request failed"/g) ?? []).length, 0);
  t.match((await ask('/health/ready')).json, { status: 'not ready', disk: 'full' });
  t.equal((await ask('/health/ready')).status, 503);
  t.equal((await ask('/health/live')).status, 200);
  t.match((await askAs(key, `/api/v2/render/${jobId}`)).json, { status: /queued|running/ });
  t.match((await askAs(key, '/api/v2/me')).json, { credits: { total: Number } });
  t.match(await installation.administration.accounts.list(), { accounts: [{ email: 'ada@example.org' }] });
  filler.free();
});
