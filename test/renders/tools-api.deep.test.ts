// What the tools API tells and shows of real scenes.
import t from 'tap';
import { webHandler } from '../../lib/web/index.ts';
import { jpegSize } from '../fixtures/jpeg.ts';
import { scene, startService } from '../fixtures/renders.ts';

const service = await startService(t);
const handle = webHandler({
  service,
  authenticate: (token) =>
    token === 'ada' ? { owner: 'ada', keyId: null, keyPrefix: 'svc', webhookUrl: null } : null,
  assetUrl: 'https://a.test',
});
const CODE = scene('self.play(Create(Circle()))', 'self.play(FadeIn(Text("7").shift(8 * RIGHT)))');

const post = (path: string, json: object, headers: Record<string, string> = {}) =>
  handle(
    new Request(`https://a.test/api/tools/v1${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer ada', ...headers },
      body: JSON.stringify(json),
    }),
  );
const picture = async (url: string) => handle(new Request(url));

t.test('good and broken scenes are checked', async (t) => {
  const good = await post('/check', { code: CODE });
  t.match(await good.json(), { ok: true, findings: [], scenes: [{ className: 'Main', seconds: 2 }] });
  const broken = { code: scene('self.play(ShowCreation(Circle()))') };
  const expected = { ok: false, findings: [{ kind: 'scene:name', candidates: ['Create'] }] };
  t.match(await (await post('/check', broken)).json(), expected);
  t.match(await (await post('/check', { ...broken, dryRun: false })).json(), expected);
  const { results } = (await (await post('/check', { codes: [CODE, broken.code] })).json()) as {
    results: object[];
  };
  t.match(results, [{ ok: true }, expected]);
});

t.test('an inspection has a sheet and pictures by URLs that need no key', async (t) => {
  const response = await post('/inspect', { code: CODE, quality: 'low' });
  const { findings, scenes } = (await response.json()) as {
    findings: object[];
    scenes: { sheet: string; pictures: { url: string }[]; expiresAt: string }[];
  };
  t.match(findings, [{ kind: 'layout:off-frame', severity: 'warning' }]);
  const [first] = scenes;
  t.ok(Date.parse(first?.expiresAt ?? '') > Date.now() + 3_500_000);
  for (const url of [first?.sheet ?? '', ...(first?.pictures ?? []).map(({ url }) => url)]) {
    const shown = await picture(url);
    t.equal(shown.headers.get('content-type'), 'image/jpeg');
    t.ok(jpegSize(Buffer.from(await shown.arrayBuffer()))[0] >= 480, url);
  }
  t.equal((await picture(`${first?.sheet}x`)).status, 404);
  const sheet = await post('/inspect', { code: CODE, quality: 'low' }, { accept: 'image/jpeg' });
  t.equal(sheet.headers.get('content-type'), 'image/jpeg');
  t.ok(jpegSize(Buffer.from(await sheet.arrayBuffer()))[0] >= 480);
});

t.test('a still is a PNG, by its URL or at once', async (t) => {
  const asked = { code: CODE, quality: 'low', at: { play: 0 } };
  const { still } = (await (await post('/still', asked)).json()) as { still: { url: string } };
  const kept = Buffer.from(await (await picture(still.url)).arrayBuffer());
  t.match(kept.subarray(1, 4).toString(), 'PNG');
  const atOnce = await post('/still', asked, { accept: 'image/png' });
  t.equal(atOnce.headers.get('content-type'), 'image/png');
  t.same(Buffer.from(await atOnce.arrayBuffer()), kept);
  const broken = await post('/still', { ...asked, code: scene('1 / 0') }, { accept: 'image/png' });
  t.match(await broken.json(), { ok: false, findings: [{ kind: 'scene:value' }], still: null });
  for (const at of ['first', -1, { play: 0.5 }])
    t.equal((await post('/still', { ...asked, at })).status, 400);
});
