import { join } from 'node:path';
import t, { type Test } from 'tap';
import { peopledAppliance } from './browser.ts';
import { signedIn } from './client.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');

/** Videos of a member: `Waves` and, failed, `Sines`; and one of the administrator. */
async function withVideos(t: Test) {
  const appliance = await peopledAppliance(t, { python: INSTANT_PYTHON, insecureNoSandbox: true });
  const { admin, member, installation, port, service } = appliance;
  const enqueue = async (email: string, className: string, code: string) => {
    const { accountId: owner } = await installation.accounts.find(email);
    const { jobId } = await service.enqueue({ owner, className, code });
    await service.wait(jobId);
    return jobId;
  };
  const other = await enqueue(admin, 'Foreign', 'x');
  const waves = await enqueue(member, 'Waves', 'self.play(Water())');
  const sines = await enqueue(member, 'Sines', 'fail');
  const client = await signedIn(t, port, member);
  const shown = async (query = '') => namesIn((await client.get(`/dashboard${query}`)).text);
  return { ...appliance, client, shown, other, waves, sines };
}

const namesIn = (text: string) =>
  [...text.matchAll(/<a class="name" href="[^"]+">([^<]+)</g)].map(([, name]) => name);

t.test('an account sees its own videos, and finds them by words and labels', async (t) => {
  const { client, shown, waves, sines, service } = await withVideos(t);
  t.same(await shown(), ['Sines', 'Waves']);
  t.same(await shown('?text=wat'), ['Waves'], 'a word of the code');
  t.same(await shown('?text=foreign'), []);
  t.same(await shown('?status=failed'), ['Sines']);
  t.same(await shown('?order=oldest'), ['Waves', 'Sines']);
  t.same(await shown('?days=7'), ['Sines', 'Waves']);
  await service.relabel(waves, { title: 'Ocean <b>', tags: ['calm'], project: 'Physics', starred: true });
  t.same(await shown('?tag=calm'), ['Ocean &lt;b&gt;']);
  t.same(await shown('?project=Physics'), ['Ocean &lt;b&gt;']);
  t.same(await shown('?starred=yes&text=ocean'), ['Ocean &lt;b&gt;']);
  t.same(await shown('?tag=none'), []);
  const { text } = await client.get('/dashboard?text=nothing');
  t.match(text, 'No video matches');
  await client.post(`/dashboard/jobs/${sines}/forget`, { confirmed: 'yes' });
  t.same(await shown('?text=sines'), [], 'a forgotten job is found no more');
});

t.test('a card shows how long its video is', async (t) => {
  const { client } = await withVideos(t);
  t.match((await client.get('/dashboard?text=waves')).text, /<span class="length number">\d+:\d\d</);
  t.notMatch((await client.get('/dashboard?text=sines')).text, 'class="length');
});

t.test('a card renames and stars its video, and the page returns as it was', async (t) => {
  const { client, service, waves } = await withVideos(t);
  const back = '/dashboard?text=waves';
  const named = { title: ' Sea ', project: 'Physics', tags: 'calm, calm,blue ', back };
  const renamed = await client.post(`/dashboard/jobs/${waves}/labels`, named);
  t.equal(renamed.headers.location, back);
  t.match(await service.get(waves), { title: 'Sea', project: 'Physics', tags: ['calm', 'blue'] });
  const elsewhere = { ...named, back: 'https://example.org/' };
  const to = (await client.post(`/dashboard/jobs/${waves}/labels`, elsewhere)).headers.location;
  t.equal(to, '/dashboard');
  const starred = await client.post(`/dashboard/jobs/${waves}/star`, { starred: 'yes', back });
  t.equal(starred.headers.location, back);
  t.match(await service.get(waves), { starred: true });
});

t.test('selected videos get labels, with one message', async (t) => {
  const { client, service, waves, sines, other } = await withVideos(t);
  const apply = async (action: string, jobId: string[], fields = {}) => {
    const answer = await client.post('/dashboard/jobs/selection', {
      ...{ action, jobId, page: 'library', back: '?order=oldest' },
      ...fields,
    });
    if (answer.status !== 303) return answer.text;
    t.equal(answer.headers.location, '/dashboard?order=oldest');
    return (await client.get('/dashboard?order=oldest')).text;
  };
  const both = [waves, sines];
  t.match(await apply('tag', both, { tagTo: 'new, calm' }), '2 jobs have the tag.');
  await apply('tag', [waves], { tagTo: 'blue' });
  t.same((await service.get(waves)).tags, ['new', 'calm', 'blue'], 'others stay');
  t.match(await apply('tag', both, { tagTo: 'x'.repeat(300) }), /No job got the tag: .*tags/);
  t.match(await apply('move', both, { moveTo: 'Physics' }), '2 jobs were moved.');
  t.equal((await service.get(sines)).project, 'Physics');
  t.match(await apply('move', [sines]), '1 job was moved.');
  t.equal((await service.get(sines)).project, null);
  t.match(await apply('star', both), '2 jobs have a star.');
  t.match(await apply('unstar', [sines]), '1 job has no star.');
  t.match(await apply('star', [other]), 'No job got a star: not found.');
  t.match(await service.get(other), { starred: false });
  const question = await apply('forget', both);
  t.match(question, 'Forget the <strong>2</strong> selected jobs?');
  t.match(question, 'href="/dashboard?order=oldest"');
});
