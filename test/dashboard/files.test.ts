import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { peopledAppliance } from './browser.ts';
import { type Client, signedIn } from './client.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
/** Would run in text, in attributes and in links. Names of files have neither quotes nor `<`. */
const EVIL = "x' onerror=alert(1) & &lt;img src=x&gt;.csv";

async function open(t: Test) {
  const appliance = await peopledAppliance(t);
  const { port, member, admin, installation } = appliance;
  const client = await signedIn(t, port, member);
  const csrf = await client.csrf();
  const { files } = installation.administration;
  const put = (name: string, content: string | Buffer = 'a,b\n', account = member) =>
    files.put({ account, name, content: pieces(content) });
  const send = (name: string, content: Buffer, more = '') =>
    client.postBytes(`/dashboard/files/upload?name=${encodeURIComponent(name)}${more}`, content, {
      'x-csrf-token': csrf,
    });
  return { ...appliance, client, csrf, files, put, send, admin, member };
}

async function* pieces(content: string | Buffer): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content);
}

function formOf(fields: Record<string, string>, files: [name: string, content: string | Buffer][]): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [name, content] of files)
    form.append('file', new Blob([new Uint8Array(Buffer.from(content))]), name);
  return form;
}

async function namesIn(client: Client, path = '/dashboard/files'): Promise<string[]> {
  const { text } = await client.get(path);
  return Array.from(
    text.matchAll(/<a href="\/dashboard\/files\/f[0-9a-f]+">([^<]*)<\/a><\/span>/g),
    ([, name = '']) => name,
  );
}

t.test('files are uploaded by a form without scripts, into a folder', async (t) => {
  const { client, csrf, files, member, dataDir } = await open(t);
  t.match((await client.get('/dashboard/files')).text, 'No files yet');
  const form = formOf({ csrf, folder: ' /voices/ ' }, [
    ['größe.png', PNG],
    ['notes.txt', 'x'.repeat(300_000)],
    ['empty.csv', ''],
  ]);
  const answer = await client.postFiles(`/dashboard/files?csrf=${csrf}`, form);
  t.match([answer.status, answer.headers.location], [303, '/dashboard/files?folder=voices']);
  const page = (await client.get(String(answer.headers.location))).text;
  t.match(page, '3 files were uploaded.');
  t.match(page, '3 of 5,000 files, 300.1 kB of 2.1 GB');
  t.match((await files.list({ account: member })).files, [
    { name: 'voices/empty.csv', kind: 'data', sizeBytes: 0 },
    { name: 'voices/größe.png', kind: 'picture', sizeBytes: PNG.length },
    { name: 'voices/notes.txt', kind: 'data', sizeBytes: 300_000 },
  ]);
  t.same(await namesIn(client, '/dashboard/files?folder=voices'), ['empty.csv', 'größe.png', 'notes.txt']);
  const all = (await client.get('/dashboard/files')).text;
  t.match(all, '<a href="/dashboard/files?folder=voices">voices/</a></nav>');
  t.same(await readdir(join(dataDir, 'work', 'uploads')).catch(() => []), [], 'no temporary files are left');
});

t.test('of a form the files that can be kept are kept, and others are named with the reason', async (t) => {
  const { client, csrf, files, member } = await open(t);
  const form = formOf({ csrf, folder: '' }, [
    ['a.csv', '1'],
    ['<b>.exe', 'x'.repeat(200_000)],
    ['c.png', 'x'.repeat(200_000)],
    ['d.csv', '4'],
  ]);
  const { status, text } = await client.postFiles(`/dashboard/files?csrf=${csrf}`, form);
  t.equal(status, 400);
  t.match(text, '2 files were uploaded.');
  t.match(text, '<strong>c.png</strong>: The content is not that of a .png file.');
  t.match(text, '<strong>&lt;b&gt;.exe</strong>: ');
  t.same(
    (await files.list({ account: member })).files.map(({ name }) => name),
    ['a.csv', 'd.csv'],
  );
  const none = await client.postFiles(
    `/dashboard/files?csrf=${csrf}`,
    formOf({ csrf, folder: '' }, [['', '']]),
  );
  t.match([none.status, none.text], [400, 'Choose a file to upload.']);
});

t.test('a form that breaks off or is none keeps nothing of its last file', async (t) => {
  const { client, csrf, files, member, send } = await open(t);
  const path = `/dashboard/files?csrf=${csrf}`;
  const type = { 'content-type': 'multipart/form-data; boundary=B' };
  const part = (name: string) =>
    `--B\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
  const cut = Buffer.from(`${part('a.csv')}1\r\n${part('b.csv')}${'2'.repeat(100_000)}`);
  t.match(await client.postBytes(path, cut, type), { status: 400, text: /did not arrive completely/ });
  const names = async () => (await files.list({ account: member })).files.map(({ name }) => name);
  t.notOk((await names()).includes('b.csv'));
  await send('c.csv', Buffer.from('1'));
  for (const [status, body, headers] of [
    [415, 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }],
    [415, 'x', {}],
    [400, 'x', { 'content-type': 'multipart/form-data; x=y' }],
    [400, 'x', type],
    [400, '', type],
    [400, '--B\r\nnonsense', type],
    [400, `--B\r\n${'x: y\r\n'.repeat(50_000)}\r\n`, type],
  ] as const) {
    t.equal(
      (await client.postBytes(path, Buffer.from(body), headers)).status,
      status,
      `${body.slice(0, 20)}`,
    );
  }
  t.same((await names()).slice(-1), ['c.csv']);
});

t.test('the script sends one file after the other, and is told why one is refused', async (t) => {
  const { client, send, files, member } = await open(t);
  const kept = await send('brand/logo.svg', Buffer.from(SVG), '&folder=pictures');
  t.match([kept.status, kept.json], [201, { name: 'pictures/brand/logo.svg', fileId: /^f/ }]);
  const wrong = await send('a.png', Buffer.from(SVG));
  t.match(wrong, { status: 400, headers: { 'content-type': /^application\/json/ } });
  t.same(wrong.json, { message: 'The content is not that of a .png file.' });
  t.match((await send('../a.csv', Buffer.from('1'))).json, { message: /is no name of a file/ });
  t.match((await send('x\u0301.csv', Buffer.from('1'))).json, { name: 'x\u0301.csv'.normalize() });
  const large = await send('a.csv', Buffer.alloc(101 * 1024 * 1024, 'x'));
  t.match([large.status, large.json], [400, { message: 'A file has at most 100 MiB.' }]);
  t.equal(
    (await client.get('/dashboard/files')).status,
    200,
    'the connection of a refused file harms no other',
  );
  t.equal((await files.list({ account: member })).files.length, 2);
});

t.test('nothing is taken of an upload from another site or without a session', async (t) => {
  const { client, csrf, files, member, ask } = await open(t);
  const form = () => formOf({ csrf, folder: '' }, [['a.csv', '1']]);
  for (const path of [
    '/dashboard/files',
    '/dashboard/files?csrf=',
    '/dashboard/files?csrf=x',
    `/dashboard/files?csrf=x&csrf=${csrf}x`,
  ]) {
    t.match(await client.postFiles(path, form()), { status: 403, text: /sent from another site/ }, path);
  }
  const one = '/dashboard/files/upload?name=a.csv';
  t.equal((await client.postBytes(one, Buffer.from('1'), {})).status, 403);
  t.equal((await client.postBytes(one, Buffer.from('1'), { 'x-csrf-token': 'x' })).status, 403);
  t.equal((await ask(`${one}&csrf=${csrf}`, { method: 'POST', body: '1' })).status, 302);
  t.same((await files.list({ account: member })).files, []);
});

t.test('contents are never documents of this origin', async (t) => {
  const { client, put } = await open(t);
  const type = async (name: string, content: string | Buffer, expected: [string, RegExp]) => {
    const { fileId } = await put(name, content);
    const answer = await client.get(`/dashboard/files/${fileId}/content`);
    t.same(answer.bytes, Buffer.from(content), name);
    t.match(answer.headers, {
      'content-type': expected[0],
      'content-disposition': expected[1],
      'content-length': String(Buffer.byteLength(content)),
      'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
  };
  await type('a.png', PNG, ['image/png', /^inline; filename\*=UTF-8''a\.png$/]);
  await type('b/ä; "it\'s".svg'.replaceAll('"', ''), SVG, [
    'image/svg+xml',
    /^attachment; filename\*=UTF-8''%C3%A4%3B%20it%27s\.svg$/,
  ]);
  await type('c.txt', '<script>alert(1)</script>', ['application/octet-stream', /^attachment/]);
  await type('d.py', 'x = 1', ['application/octet-stream', /^attachment/]);
  await type('e.wav', Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), Buffer.alloc(100)]), [
    'audio/wav',
    /^attachment/,
  ]);
});

t.test('players read parts of a sound', async (t) => {
  const { client, put, ask } = await open(t);
  const content = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), Buffer.alloc(100, 'x')]);
  const { fileId } = await put('a.wav', content);
  const cookie = Array.from(client.cookies, ([name, value]) => `${name}=${value}`).join('; ');
  const part = (range: string) => ask(`/dashboard/files/${fileId}/content`, { headers: { cookie, range } });
  const middle = await part('bytes=4-9');
  t.match(
    [middle.status, middle.headers],
    [206, { 'content-range': 'bytes 4-9/112', 'content-length': '6' }],
  );
  t.same(middle.bytes, content.subarray(4, 10));
  t.match(await part('bytes=112-'), { status: 416, headers: { 'content-range': 'bytes */112' } });
});

t.test('a page of a file shows its beginning, how scenes use it, and which jobs do', async (t) => {
  const { client, put, service, installation, member } = await open(t);
  const { fileId } = await put('data/table.csv', `<script>alert(1)</script>,1\n${'row\n'.repeat(5000)}`);
  const path = `/dashboard/files/${fileId}`;
  t.match((await client.get(path)).text, 'No job uses this file.');
  const owner = (await installation.accounts.find(member)).accountId;
  const { jobId } = await service.enqueue({ owner, className: 'Reader', code: 'x' });
  const { text } = await client.get(path);
  t.match(text, '<pre tabindex="0">&lt;script&gt;alert(1)&lt;/script&gt;,1\nrow\n');
  t.match(text, 'Only the beginning is shown.');
  t.match(text, 'with open(&quot;data/table.csv&quot;) as file:');
  t.match(text, `<a href="/dashboard/jobs/${jobId}">Reader</a>`);
  const job = `/dashboard/jobs/${jobId}`;
  t.match((await client.get(job)).text, `<li><a href="${path}">data/table.csv</a></li>`);
  await put('data/table.csv', 'other\n');
  t.equal((await client.get(path)).status, 404, 'it was replaced');
  t.match(
    (await client.get(job)).text,
    '<li><span>data/table.csv</span><span class="small muted">of this job only</span></li>',
  );
});

t.test('a file is removed after a question, and the record says so', async (t) => {
  const { client, put, files, port, admin, member, send } = await open(t);
  const { fileId } = await put('voices/a.csv');
  const path = `/dashboard/files/${fileId}/remove`;
  t.match((await client.get(path)).text, 'Remove <strong>voices/a.csv</strong>?');
  const answer = await client.post(path, {});
  t.match([answer.status, answer.headers.location], [303, '/dashboard/files?folder=voices']);
  t.match((await client.get('/dashboard/files?folder=voices')).text, 'voices/a.csv was removed.');
  t.same((await files.list({ account: member })).files, []);
  await send('b.csv', Buffer.from('1'));
  const record = (await (await signedIn(t, port, admin)).get('/dashboard/acts')).text;
  t.match(record, 'Removed a file');
  t.match(record, /Uploaded a file[\s\S]*class="clip" title="f[0-9a-f]+">b\.csv</);
});

t.test("another account's files are reached by administrators only", async (t) => {
  const { client, csrf, put, files, port, admin, member, send } = await open(t);
  const { fileId } = await put('secret-name.csv', 'secret-content', admin);
  for (const path of [fileId, `${fileId}/content`, `${fileId}/remove`]) {
    const { status, text } = await client.get(`/dashboard/files/${path}`);
    t.equal(status, 404, path);
    t.notMatch(text, /secret-/);
  }
  t.equal((await client.post(`/dashboard/files/${fileId}/remove`, {})).status, 404);
  t.notMatch((await client.get(`/dashboard/files?account=${admin}`)).text, 'secret-name');
  await send('a.csv', Buffer.from('1'), `&account=${admin}`);
  await client.postFiles(
    `/dashboard/files?csrf=${csrf}&account=${admin}`,
    formOf({ csrf }, [['b.csv', '1']]),
  );
  t.same(
    (await files.list({ account: admin })).files.map(({ name }) => name),
    ['secret-name.csv'],
  );
  t.same(
    (await files.list({ account: member })).files.map(({ name }) => name),
    ['a.csv', 'b.csv'],
  );
  const administrator = await signedIn(t, port, admin);
  t.same(await namesIn(administrator, `/dashboard/files?account=${member}`), ['a.csv', 'b.csv']);
  const token = await administrator.csrf();
  const form = formOf({ csrf: token }, [['c.csv', '1']]);
  const answer = await administrator.postFiles(`/dashboard/files?account=${member}&csrf=${token}`, form);
  t.equal(answer.headers.location, `/dashboard/files?account=${encodeURIComponent(member)}`);
  t.equal((await files.list({ account: member })).files.length, 3);
});

t.test('names of files are text, and lists have pages', async (t) => {
  const { client, put } = await open(t);
  const { fileId } = await put(EVIL);
  for (const path of ['', `/${fileId}`, `/${fileId}/remove`]) {
    const { status, text } = await client.get(`/dashboard/files${path}`);
    t.equal(status, 200);
    t.match(text, 'x&#39; onerror=alert(1) &amp; &amp;lt;img');
    t.notMatch(text, "x' onerror");
  }
  for (let index = 0; index < 101; index += 1)
    await put(`a/${String(index).padStart(3, '0')}.csv`, `${index}`);
  t.equal((await namesIn(client)).length, 100);
  const [, next = ''] =
    /<a href="([^"]+)" rel="next">/.exec((await client.get('/dashboard/files')).text) ?? [];
  t.same(await namesIn(client, next.replaceAll('&amp;', '&')), [
    '100.csv',
    'x&#39; onerror=alert(1) &amp; &amp;lt;img src=x&amp;gt;.csv',
  ]);
  t.equal((await client.get('/dashboard/files?folder=..')).status, 400);
});

t.test('files are found by a part of their names, and renamed', async (t) => {
  const { client, put, files, member } = await open(t);
  const { fileId } = await put('brand/Logo.csv');
  await put(EVIL);
  t.same(await namesIn(client, '/dashboard/files?search=LOGO'), ['Logo.csv']);
  const found = (await client.get(`/dashboard/files?search=${encodeURIComponent(EVIL)}`)).text;
  t.match(found, 'value="x&#39; onerror=alert(1) &amp; &amp;lt;img src=x&amp;gt;.csv"');
  t.match((await client.get('/dashboard/files?search=nothing')).text, 'No name contains this text.');
  const rename = (name: string) => client.post(`/dashboard/files/${fileId}/rename`, { name });
  const renamed = await rename(' brand/logo 2.csv ');
  t.match([renamed.status, renamed.headers.location], [303, `/dashboard/files/${fileId}`]);
  t.match((await client.get(`/dashboard/files/${fileId}`)).text, 'It is brand/logo 2.csv now.');
  for (const [name, status, message] of [
    ['logo.png', 400, 'of another format'],
    ['../a.csv', 400, 'is no name of a file'],
    [EVIL, 409, 'already. Remove it first.'],
  ] as const) {
    const refused = await rename(name);
    t.equal(refused.status, status);
    t.match(refused.text, message);
    t.notMatch(refused.text, '<img src=x');
  }
  t.match((await files.list({ account: member, search: 'brand' })).files, [
    { name: 'brand/logo 2.csv', fileId },
  ]);
  const offered = JSON.parse((await client.get('/dashboard/playground/files?search=logo')).text);
  t.same(offered, { files: [{ name: 'brand/logo 2.csv', kind: 'data', fileId }], isAll: true });
});
