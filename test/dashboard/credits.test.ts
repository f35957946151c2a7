import { join } from 'node:path';
import t from 'tap';
import { peopledAppliance } from './browser.ts';
import { signedIn } from './client.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');

t.test('spending is shown by day, as a chart and as a table', async (t) => {
  const { port, member, installation, service } = await peopledAppliance(t, {
    python: INSTANT_PYTHON,
    insecureNoSandbox: true,
  });
  const client = await signedIn(t, port, member);
  t.match(
    (await client.get('/dashboard/credits')).text,
    '<strong class="number">0 credits</strong> for 0 renders',
  );
  const { accountId } = await installation.accounts.find(member);
  let cost = 0;
  for (let count = 0; count < 2; count += 1) {
    const { jobId } = await service.enqueue({
      owner: accountId,
      className: 'A',
      code: 'x',
      quality: 'fourk',
    });
    cost += (await service.wait(jobId)).creditsCost;
  }
  t.ok(cost > 0);
  const { text } = await client.get('/dashboard/credits');
  t.match(text, `<strong class="number">${cost} credits</strong> for 2 renders`);
  t.equal(text.split('<title>20').length - 1, 30);
  const today = new Date().toISOString().slice(0, 10);
  t.match(text, `<title>${today}: ${cost}</title>`);
  t.match(text, `${today}</th><td class="end number">2</td><td class="end number">${cost}</td>`);
  const year = (await client.get('/dashboard/credits?days=365')).text;
  t.equal(year.split('<title>20').length - 1, 365);
  t.equal((await client.get('/dashboard/credits?days=1e9')).text.split('<title>20').length - 1, 30);
});
