import t, { type Test } from 'tap';
import { completedJob } from '../appliance/completed-job.ts';
import { peopledAppliance } from './browser.ts';
import { signedIn } from './client.ts';

const EVIL = `"><img src=x onerror=alert(1)>'`;

async function open(t: Test) {
  const appliance = await peopledAppliance(t);
  const { port, member, installation, ask } = appliance;
  const { accountId: owner } = await installation.accounts.find(member);
  const client = await signedIn(t, port, member);
  const complete = (title: string, of = owner) => completedJob(appliance, { title, owner: of });
  /** The link that a page shows, as a path. */
  const linkIn = (text: string) =>
    /<code id="share-link">[^<]*(\/w\/[\w-]{24})<\/code>/.exec(text)?.[1] ?? '';
  const page = async (path: string) => (await client.get(`/dashboard${path}`)).text;
  const watched = async (link: string) => (await ask(link)).status;
  return { ...appliance, owner, client, complete, linkIn, page, watched };
}

/** One for all tests of this file: to start it takes longer than they do. */
const opened = open(t);

t.test('the page of a job creates a link with one click, and revokes it at once', async (t) => {
  const { client, complete, linkIn, page, watched, url, installation, service, owner } = await opened;
  t.match(await page('/shares'), 'Nothing shared yet');
  const jobId = await complete('Pythagoras');
  t.match(await page(`/jobs/${jobId}`), 'Create link');
  const { status, headers } = await client.post(`/dashboard/jobs/${jobId}/share`, {});
  t.match([status, headers.location], [303, `/dashboard/jobs/${jobId}#share-card`]);
  const shown = await page(`/jobs/${jobId}`);
  const link = linkIn(shown);
  t.equal(await watched(link), 200);
  t.match(shown, `href="${url}${link}" target="_blank" rel="noopener"`);
  const frame = `${url}${link.replace('/w/', '/embed/')}`;
  t.match(
    shown,
    `&lt;iframe src=&quot;${frame}&quot; width=&quot;800&quot; height=&quot;450&quot; title=&quot;Pythagoras`,
  );
  t.match(shown, '<dd>Whoever has the link</dd>');

  await service.shares.settled();
  t.match(await page(`/jobs/${jobId}`), '<dt>Views</dt><dd class="number">1</dd>');

  const [share] = await service.shares.list({ owner });
  const path = `/dashboard/shares/${share?.shareId}`;
  t.match((await client.get(`${path}/revoke`)).text, 'Revoke the link to <strong>Pythagoras</strong>?');
  t.equal(await watched(link), 200, 'a question revokes nothing');
  t.match((await client.submit(`${path}/revoke`, {})).text, 'The link was revoked.');
  t.equal(await watched(link), 410);
  const after = await page(`/jobs/${jobId}`);
  t.equal(linkIn(after), '');
  t.match(after, `href="/dashboard/shares?job=${jobId}">All links to this video`);
  t.match((await client.submit(`${path}/remove`, {})).text, 'The link was removed.');
  t.equal((await client.get(path)).status, 404);
  t.equal(await watched(link), 404);

  const acts = await installation.administration.acts.list({ limit: 3 });
  t.same(
    acts.map(({ action, subject }) => [action, subject]),
    ['remove', 'revoke', 'create'].map((act) => [`shares.${act}`, share?.shareId]),
  );
});

t.test('a job without a video has no link', async (t) => {
  const { client, page, service, owner, complete } = await opened;
  const { jobId } = await service.enqueue({ owner, className: 'Waits', code: 'x' });
  t.notMatch(await page(`/jobs/${jobId}`), 'Create link');
  t.equal((await client.post(`/dashboard/jobs/${jobId}/share`, {})).status, 409);
  const forgotten = await complete('Gone');
  await client.post(`/dashboard/jobs/${forgotten}/share`, {});
  await service.forget(forgotten);
  t.notMatch(await page(`/jobs/${forgotten}`), 'id="share-card"');
});

t.test('the settings of a link are saved, and mistakes are told without losing the input', async (t) => {
  const { client, complete, page, service, owner, watched } = await opened;
  const jobId = await complete('A');
  const { shareId, token } = await service.shares.create({ owner, jobIds: [jobId] });
  const path = `/dashboard/shares/${shareId}`;
  const fields = {
    title: ` ${EVIL} `,
    description: 'One\r\ntwo <b>',
    visibility: 'public',
    expires: '2100-01-31T12:00',
    poster: 'play:2',
  };
  const saved = await client.submit(path, fields);
  t.match(saved.text, 'The settings were saved.');
  t.notMatch(saved.text, '<img src=x');
  t.notMatch(saved.text, 'two <b>');
  t.match(await service.shares.get(shareId), {
    title: EVIL,
    description: 'One\ntwo <b>',
    visibility: 'public',
    expiresAt: '2100-01-31T12:00:00.000Z',
    poster: { play: 2 },
    allowDownload: false,
  });
  t.match(saved.text, '<option value="play:2" selected>After play 3: Write(&lt;b&gt;)</option>');
  const job = await page(`/jobs/${jobId}`);
  t.match(job, '<textarea name="description" rows="3" maxlength="5000">\nOne\ntwo &lt;b&gt;</textarea>');

  const back = `/dashboard/jobs/${jobId}`;
  const kept = await client.post(path, { ...fields, back, visibility: 'link', allowDownload: 'yes' });
  t.equal(kept.headers.location, back, 'back to the page with the form');
  t.match(await service.shares.get(shareId), { visibility: 'link', allowDownload: true });
  t.equal(
    (await client.post(path, { ...fields, back: 'https://evil.example/' })).headers.location,
    path,
    'and nowhere else',
  );
  for (const [change, said] of [
    [{ expires: '2020-01-31T12:00' }, 'The link cannot end in the past.'],
    [{ expires: 'tomorrow' }, 'The link cannot end in the past.'],
    [{ poster: 'seconds', posterSeconds: 'x' }, 'Enter the seconds from the start'],
    [{ title: 'x'.repeat(201) }, 'title length must be less than or equal to 200'],
    [{ visibility: 'everybody' }, 'visibility must be one of'],
  ] as const) {
    const { status, text } = await client.post(path, { ...fields, description: 'My input', ...change });
    t.match([status, text], [400, said]);
    t.match(text, '\nMy input</textarea>');
  }
  t.match(
    (await client.submit(path, { ...fields, poster: 'seconds', posterSeconds: '1,5' })).text,
    'name="posterSeconds" value="1.5"',
  );
  t.match(
    (await client.submit(path, { ...fields, visibility: 'private' })).text,
    'does not work while it is',
  );
  t.equal(await watched(`/w/${token}`), 404);
});

t.test('a link that has expired keeps its time until it is changed', async (t) => {
  const { client, complete, service, owner, installation, page } = await opened;
  const { shareId } = await service.shares.create({ owner, jobIds: [await complete('A')] });
  const { storage } = installation.place;
  const record = await storage.shares.get(shareId);
  if (!record) throw new Error('it was stored');
  await storage.transaction((tx) => storage.shares.update(tx, { ...record, expiresAtMs: 1_500 }));
  const path = `/dashboard/shares/${shareId}`;
  t.match(await page(`/shares/${shareId}`), 'The link has expired.');
  const fields = { title: 'New', visibility: 'link', poster: '', expires: '1970-01-01T00:00:01' };
  t.match((await client.submit(path, fields)).text, 'The settings were saved.');
  t.match(await service.shares.get(shareId), { title: 'New', state: 'expired' });
  t.match((await client.submit(path, { ...fields, expires: '' })).text, 'The settings were saved.');
  t.match(await service.shares.get(shareId), { state: 'open' });
});

t.test('selected jobs become one link, oldest first, whose videos can be moved and taken out', async (t) => {
  const { client, complete, service, owner, page, admin, installation, port, member } = await opened;
  const [first, second, third] = [await complete('First'), await complete('Second'), await complete('Third')];
  const { jobId: waiting } = await service.enqueue({ owner, className: 'Waits', code: 'x' });
  t.match(await page('/jobs'), '<button name="action" value="share">Share</button>');
  const select = (jobId: string[]) => client.submit('/dashboard/jobs/selection', { action: 'share', jobId });
  t.match((await select([])).text, 'No job was selected.');
  t.match((await select([waiting, '0'.repeat(48)])).text, 'None of the selected jobs has a video.');
  const { text } = await select([waiting, third, second, first]);
  t.match(text, 'One link for 3 videos.');
  t.match(text, '1 selected job has no video and was left out.');
  const [share] = await service.shares.list({ owner });
  t.same(share?.jobIds, [first, second, third]);
  t.match(await page('/shares'), '3 videos');
  t.notMatch(await page(`/jobs/${first}`), 'id="share-link"', 'a link to several videos is not that of one');

  const arrange = (fields: Record<string, string>) =>
    client.post(`/dashboard/shares/${share?.shareId}/videos`, fields);
  const order = async () => (await service.shares.get(share?.shareId ?? '')).jobIds;
  const moved = await arrange({ up: third });
  t.same(await order(), [first, third, second]);
  t.match(moved.headers.location, `#video-${third}`, 'the keyboard goes on there');
  await arrange({ up: first });
  t.same(await order(), [first, third, second], 'the first one stays');
  await arrange({ down: first });
  await arrange({ down: second });
  t.same(await order(), [third, first, second], 'the last one stays');
  await arrange({ out: third });
  await arrange({ out: second });
  t.same(await order(), [first]);
  t.equal((await arrange({ out: first })).status, 409, 'a link has a video');

  const theirs = await complete('Theirs', (await installation.accounts.find(admin)).accountId);
  const asAdmin = await signedIn(t, port, admin);
  const mixed = await asAdmin.submit('/dashboard/jobs/selection', {
    action: 'share',
    jobId: [first, theirs],
  });
  t.match(mixed.text, 'The selected jobs belong to several accounts.');
  t.match((await asAdmin.post(`/dashboard/jobs/${first}/share`, {})).status, 303);
  t.match(
    await service.shares.list({ jobId: first }),
    [{ owner }, { owner }],
    'an administrator shares for others',
  );
  t.match((await asAdmin.get(`/dashboard/shares?account=${member}`)).text, 'First');
});

t.test('videos are found and added to a link, those that it lacks', async (t) => {
  const { client, complete, service, owner, page, installation, admin } = await opened;
  const [first, other] = [await complete('Limits of sums'), await complete('Limits of products')];
  const failed = await service.enqueue({ owner, className: 'Limits', code: 'x' });
  const theirs = await complete('Limits of others', (await installation.accounts.find(admin)).accountId);
  const { shareId } = await service.shares.create({ owner, jobIds: [first] });
  const path = `/shares/${shareId}`;
  t.match(await page(path), `href="/dashboard${path}?find=#add-videos">Add videos`);
  t.notMatch(await page(path), 'name="add"');
  t.match(await page(`${path}?find=`), `name="add" value="${other}"`, 'the newest, without a search');
  const found = await page(`${path}?find=${encodeURIComponent('limits')}`);
  t.match(found, `name="add" value="${other}" aria-label="Add Limits of products"`);
  for (const jobId of [first, failed.jobId, theirs]) t.notMatch(found, `name="add" value="${jobId}"`);
  t.match(await page(`${path}?find=zzz`), 'No other videos');
  const to = await client.post(`/dashboard${path}/videos`, { add: other, find: 'limits' });
  t.equal(to.headers.location, `/dashboard${path}?find=limits#add-videos`);
  t.same((await service.shares.get(shareId)).jobIds, [first, other]);
  t.equal((await client.post(`/dashboard${path}/videos`, { add: theirs })).status, 404);
  await service.shares.revoke(shareId);
  const revoked = await page(`${path}?find=`);
  for (const control of ['add', 'up', 'down', 'out']) t.notMatch(revoked, `<button name="${control}"`);
});

t.test('a long list of videos to add has pages', async (t) => {
  const { complete, service, owner, page } = await opened;
  const shown = await complete('Part 0');
  const { shareId } = await service.shares.create({ owner, jobIds: [shown] });
  for (let count = 1; count <= 14; count += 1) await complete(`Part ${count}`);
  const names = (text: string) =>
    Array.from(text.matchAll(/aria-label="Add (Part \d+)"/g), ([, name]) => name);
  for (const find of ['', 'part']) {
    const first = await page(`/shares/${shareId}?find=${find}`);
    t.equal(names(first).length, 12);
    const next =
      /href="\/dashboard([^"#]+)#add-videos" rel="next"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
    t.same(names(await page(next)).slice(0, 2), ['Part 2', 'Part 1'], find);
  }
});

t.test('the list has pages, which new links do not move', async (t) => {
  const { client, complete, service, owner, page } = await opened;
  const jobIds = [await complete('A')];
  for (let count = 1; count <= 52; count += 1) {
    await service.shares.create({ owner, jobIds, title: `Link ${count}` });
  }
  const namesIn = (text: string) => Array.from(text.matchAll(/>(Link \d+)<\/a>/g), ([, name]) => name);
  for (const query of ['', `?job=${jobIds[0]}`]) {
    const first = await page(`/shares${query}`);
    t.equal(namesIn(first).length, 50);
    const next = /href="([^"]+)" rel="next"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
    t.same(namesIn((await client.get(next)).text), ['Link 2', 'Link 1'], query);
  }
});
