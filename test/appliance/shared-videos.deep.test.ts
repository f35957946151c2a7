import t, { type Test } from 'tap';
import type { NewShare } from '../../lib/shares/shares.ts';
import { completedJob } from './completed-job.ts';
import { listeningAppliance } from './listening-appliance.ts';

const VIDEO = Buffer.from(Array.from({ length: 1_000 }, (_, index) => index % 256));
const EVIL = `"><script>alert(1)</script><meta x='`;

const FILES = {
  'video.mp4': VIDEO,
  'thumbnail.jpg': 'JPEG',
  'captions.vtt': 'WEBVTT\n',
  'slides.html': '<script>',
};

/** An appliance with a completed job, and shares of it. */
async function withShares(t: Test) {
  const appliance = await listeningAppliance(t);
  const { service } = appliance;
  const complete = (title: string) => completedJob(appliance, { files: FILES, title });
  const jobId = await complete('Pythagoras’ theorem');
  const { owner } = await service.get(jobId);
  const share = (change: Partial<NewShare> = {}) =>
    service.shares.create({ owner, jobIds: [jobId], ...change });
  return { ...appliance, jobId, complete, share, owner };
}

t.test('the page of a link shows the video, and names neither its job nor its account', async (t) => {
  const { ask, share, jobId, owner, url } = await withShares(t);
  const { token } = await share({ description: 'A proof\nin pictures' });
  const page = await ask(`/w/${token}`);
  t.equal(page.status, 200);
  t.match(page.text, '<h1>Pythagoras’ theorem</h1>');
  t.match(page.text, `src="/w/${token}/1/video.mp4"`);
  t.match(page.text, 'A proof\nin pictures');
  t.match(page.text, '<time>0:04</time><span>Write(&lt;b&gt;)</span>');
  t.match(page.text, `<meta property="og:image" content="${url}/w/${token}/1/thumbnail.jpg">`);
  t.match(page.text, '<meta name="robots" content="noindex">');
  t.match(page.headers, {
    'content-security-policy': /frame-ancestors 'none'/,
    'referrer-policy': 'no-referrer',
    'cache-control': 'private, no-store',
    'x-robots-tag': 'noindex',
  });
  for (const path of ['', '/video.mp4', '/1/thumbnail.jpg', '/captions.vtt', '/chapters.vtt']) {
    const answer = await ask(`/w/${token}${path}`);
    t.equal(answer.status, 200, path);
    const all = answer.text + JSON.stringify(answer.headers);
    for (const secret of [jobId, owner, 'set-cookie']) t.notMatch(all, secret, path);
  }
  const chapters = await ask(`/w/${token}/chapters.vtt`);
  t.match(chapters.text, '00:00:04.000 --> 00:00:06.000\nWrite(&lt;b&gt;)\n');
});

t.test('a public link may be listed by search engines', async (t) => {
  const { ask, share } = await withShares(t);
  const { token } = await share({ visibility: 'public' });
  const page = await ask(`/w/${token}`);
  t.notMatch(page.text, 'noindex');
  t.equal(page.headers['x-robots-tag'], undefined);
});

t.test('files have ranges, are not kept by caches, and have real names when they are saved', async (t) => {
  const { ask, share } = await withShares(t);
  const { token } = await share();
  const path = `/w/${token}/video.mp4`;
  const part = await ask(path, { headers: { range: 'bytes=10-19' } });
  t.equal(part.status, 206);
  t.ok(part.bytes.equals(VIDEO.subarray(10, 20)));
  t.match(part.headers, {
    'content-range': 'bytes 10-19/1000',
    'cache-control': 'private, no-store',
    'access-control-allow-origin': '*',
    'content-type': 'video/mp4',
  });
  const { etag = '' } = part.headers;
  const stale = await ask(path, { headers: { range: 'bytes=10-19', 'if-range': '"other"' } });
  t.equal(stale.status, 200);
  t.equal((await ask(path, { headers: { range: 'bytes=0-1', 'if-range': etag } })).status, 206);
  t.match(await ask(path, { headers: { range: 'bytes=1000-' } }), {
    status: 416,
    headers: { 'content-range': 'bytes */1000' },
  });
  for (const range of ['bytes=', 'bytes=5-2', 'bytes=0-1,5-6', 'lines=1-2', 'bytes=-', 'x'.repeat(3000)])
    t.equal((await ask(path, { headers: { range } })).status, 200, range.slice(0, 20));
  const head = await ask(path, { method: 'HEAD' });
  t.match(head, { status: 200, headers: { 'content-length': '1000' } });
  t.equal(head.text, '');
  t.equal(
    (await ask(`${path}?download`)).headers['content-disposition'],
    `attachment; filename="Pythagoras-theorem-720p.mp4"; filename*=UTF-8''Pythagoras-theorem-720p.mp4`,
  );
  const slides = await ask(`/w/${token}/slides.html`);
  t.match(slides.headers['content-disposition'], /^attachment/);
  t.match(slides.headers['content-security-policy'], 'sandbox');
});

t.test('without downloads, only what the player needs is served', async (t) => {
  const { ask, share } = await withShares(t);
  const { token } = await share({ allowDownload: false });
  t.notMatch((await ask(`/w/${token}`)).text, 'download>');
  t.equal((await ask(`/w/${token}/slides.html`)).status, 404);
  const video = await ask(`/w/${token}/video.mp4?download`);
  t.equal(video.headers['content-disposition'], undefined);
});

t.test('only the page for frames may be framed; it needs no cookie', async (t) => {
  const { ask, share } = await withShares(t);
  const { token } = await share();
  const embed = await ask(`/embed/${token}`);
  t.match(embed.headers['content-security-policy'], /frame-ancestors \*/);
  t.match(embed.text, 'crossorigin="anonymous"');
  t.equal(embed.headers['set-cookie'], undefined);
  t.match((await ask('/embed/none')).headers['content-security-policy'], /frame-ancestors \*/);
  for (const path of ['/dashboard/sign-in', `/w/${token}`, '/w/none'])
    t.match((await ask(path)).headers['content-security-policy'], /frame-ancestors 'none'/, path);
});

t.test('a link that is over or unknown says what to do, at once for its files', async (t) => {
  const { ask, share, service, jobId } = await withShares(t);
  const [revoked, forgotten] = [await share(), await share()];
  await service.shares.revoke(revoked.shareId);
  for (const path of [`/w/${revoked.token}`, `/embed/${revoked.token}`, `/w/${revoked.token}/video.mp4`]) {
    const answer = await ask(path);
    t.equal(answer.status, 410, path);
    t.match(answer.text, 'Ask the person who sent you the link for a new one.');
  }
  await service.forget(jobId);
  t.equal((await ask(`/w/${forgotten.token}/video.mp4`)).status, 404);
  const german = await ask('/w/none', { headers: { 'accept-language': 'de' } });
  t.match(german, { status: 404, text: /Hier ist kein Video/ });
});

t.test('hostile paths and titles get an answer without a fault', async (t) => {
  const { ask, share, log } = await withShares(t);
  const { token } = await share({ title: EVIL, description: EVIL });
  for (const path of [`/w/${token}`, `/embed/${token}`]) {
    const { text } = await ask(path);
    t.notMatch(text, '<script>alert');
    t.notMatch(text, '<meta x=');
  }
  const answers: [path: string, status: number][] = [
    ...['/w/%00', '/w/%', '/w/%zz/video.mp4', `/w/${token}%00`, `/w/${'A'.repeat(24)}`].map(
      (path): [string, number] => [path, 404],
    ),
    ...['/0/video.mp4', '/2/video.mp4', '/x/video.mp4', '/..%2fvideo.mp4', '/video.index', '/%2e%2e/x'].map(
      (rest): [string, number] => [`/w/${token}${rest}`, 404],
    ),
    [`/w/${token}?v=0`, 404],
    [`/w/${token}?v=1&v=2`, 404],
    [`/w/${token}/`, 404],
  ];
  for (const [path, status] of answers) t.equal((await ask(path)).status, status, path);
  t.equal((await ask(`/w/${token}`, { method: 'POST' })).status, 404);
  t.notMatch(log(), token, 'the log has no tokens');
});

t.test('a playlist leads from one video to the next', async (t) => {
  const { ask, share, complete, jobId } = await withShares(t);
  const { token } = await share({ jobIds: [jobId, await complete('Second')], title: 'Course' });
  const first = await ask(`/w/${token}`);
  t.match(first.text, 'Video 1 of 2');
  t.match(first.text, `rel="next" href="/w/${token}?v=2"`);
  const second = await ask(`/w/${token}?v=2`);
  t.match(second.text, '<h1>Second</h1>');
  t.match(second.text, `src="/w/${token}/2/video.mp4"`);
  t.match(second.text, `rel="prev" href="/w/${token}"`);
});

t.test('oEmbed answers with a frame', async (t) => {
  const { ask, share, url } = await withShares(t);
  const { token } = await share({ title: EVIL });
  const oembed = (link: string, rest = '') => ask(`/oembed?url=${encodeURIComponent(link)}${rest}`);
  const { json, headers } = await oembed(`${url}/w/${token}`, '&format=json&maxwidth=427');
  t.match(json, { version: '1.0', type: 'video', title: EVIL, width: 427, height: 240 });
  t.match(json['html'], `src="${url}/embed/${token}"`);
  t.match(json['html'], 'max-width:100%;height:auto;aspect-ratio:427/240"', 'it keeps its shape on a phone');
  t.notMatch(json['html'], '<script');
  t.match(json['thumbnail_url'], `${url}/w/${token}/1/thumbnail.jpg`);
  t.equal(headers['access-control-allow-origin'], '*');
  t.equal((await oembed(`${url}/w/${token}`, '&format=xml')).status, 501);
  for (const link of ['', 'x', `https://other.example/w/${token}`, `${url}/dashboard`, `${url}/w/none`])
    t.equal((await oembed(link)).status, 404, link);
});

t.test('a view is an opened page, not a request for a file', async (t) => {
  const { ask, share, service } = await withShares(t);
  const { shareId, token } = await share();
  await ask(`/w/${token}`);
  await ask(`/embed/${token}`);
  await ask(`/w/${token}`, { method: 'HEAD' });
  for (const range of ['bytes=0-9', 'bytes=10-19'])
    await ask(`/w/${token}/video.mp4`, { headers: { range } });
  await service.shares.settled();
  t.equal((await service.shares.get(shareId)).views, 2);
});
