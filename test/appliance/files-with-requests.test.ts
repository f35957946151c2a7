// Contents of files that come with requests to the tools API, through both doors.

import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { server as createHapi } from '@hapi/hapi';
import t, { type Test } from 'tap';
import { toolsApi } from '../../appliance/http/render-api.ts';
import type { RenderService } from '../../lib/index.ts';
import { nodeHandler, webHandler } from '../../lib/web/index.ts';
import { instantService } from '../fixtures/instant-service.ts';
import { openSocket } from '../fixtures/raw-http.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';

const authenticate = (token: string) => ({
  ...{ owner: token, keyId: token, keyPrefix: 'svc_live_', webhookUrl: null },
});
const assetUrl = 'https://a.test';
const SCENE = { code: 'x', className: 'Main' };

/** Servers; each returns its port. */
const DOORS: Record<string, (t: Test, service: RenderService) => Promise<number>> = {
  async web(t, service) {
    const handle = nodeHandler(webHandler({ service, authenticate, assetUrl }));
    const server = createServer(handle).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  },
  async hapi(t, service) {
    const server = createHapi({ port: 0, compression: false });
    await server.register({ plugin: toolsApi, options: { service, authenticate, assetUrl } });
    await server.start();
    t.teardown(() => server.stop({ timeout: 1000 }));
    return Number(server.info.port);
  },
};

interface Part {
  name: string;
  content: string;
  fileName?: string;
}

/** A form as programs send it. */
function formOf(parts: readonly Part[], end = '--x--\r\n'): string {
  const texts = parts.map(({ name, content, fileName }) => {
    const named = fileName === undefined ? '' : `; filename="${fileName}"`;
    return `--x\r\nContent-Disposition: form-data; name="${name}"${named}\r\n\r\n${content}\r\n`;
  });
  return texts.join('') + end;
}

/** What is being received. */
function receivedIn(workFolder: string): string[] {
  const folder = join(workFolder, 'uploads');
  return existsSync(folder) ? readdirSync(folder) : [];
}

for (const [door, open] of Object.entries(DOORS))
  t.test(door, async (t) => {
    const workFolder = await temporaryFolder(t);
    const service = await instantService(t, { workFolder, files: { largestBytes: 100_000 } });
    const port = await open(t, service);
    const ask = async (path: string, init: RequestInit = {}, owner = 'ada') =>
      fetch(`http://127.0.0.1:${port}/api/tools/v1${path}`, {
        ...init,
        headers: { authorization: `Bearer ${owner}`, ...init.headers },
      });
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const send = (path: string, parts: readonly Part[], more: Record<string, string> = {}, end?: string) =>
      ask(path, { method: 'POST', headers: { ...headers, ...more }, body: formOf(parts, end) });
    const request = (more: object = {}) => ({
      name: 'request',
      content: JSON.stringify({ ...SCENE, ...more }),
    });
    const jobOf = async (response: Response) => {
      const { jobId } = (await response.json()) as { jobId: string };
      return jobId;
    };
    const filesOf = async (jobId: string) =>
      ((await (await ask(`/jobs/${jobId}`)).json()) as { files: Record<string, string> }).files;
    const kept = await service.files.put({ owner: 'ada', name: 'kept.txt', content: 'kept' });
    const nothingIsLeft = async (t: Test) => {
      t.match(await service.files.usage('ada'), { files: 1, bytes: 4 });
      t.match(await service.files.list({ owner: 'ada' }), [kept]);
    };

    t.test('a job has the files of its form, and those that it names', async (t) => {
      const response = await send(
        '/jobs',
        [
          request({ files: { 'kept.txt': kept.fileId }, metadata: { n: 1 } }),
          { name: 'a/ü.txt', content: 'one', fileName: 'C:\\anything.bin' },
          { name: 'b.txt', content: '' },
          { name: 'c.svg', content: '<svg></svg>' },
        ],
        { prefer: 'wait=30' },
      );
      t.equal(response.status, 200);
      const jobId = await jobOf(response);
      const files = await filesOf(jobId);
      t.match(files, { 'a/ü.txt': /^f/, 'b.txt': /^f/, 'c.svg': /^f/, 'kept.txt': kept.fileId });
      const page = (await (await ask('/files')).json()) as { files: object[] };
      t.equal(page.files.length, 1, 'they are not listed');
      t.equal((await ask(`/files/${files['b.txt']}`)).status, 404);
      t.equal((await ask(`/jobs/${jobId}`, {}, 'bob')).status, 404);
      const stolen = { ...SCENE, files: { 'b.txt': files['b.txt'] } };
      for (const owner of ['ada', 'bob'])
        t.equal((await ask('/jobs', { method: 'POST', body: JSON.stringify(stolen) }, owner)).status, 404);
      const again = await jobOf(await ask(`/jobs/${jobId}/again`, { method: 'POST' }));
      t.same(await filesOf(again), files);
      const changed = await send(`/jobs/${jobId}/again`, [
        { name: 'request', content: '{}' },
        { name: 'd.txt', content: 'x' },
      ]);
      t.match(Object.keys(await filesOf(await jobOf(changed))), ['d.txt']);
      for (const { jobId } of await service.list({ owner: 'ada' })) {
        await service.wait(jobId);
        await service.forget(jobId);
      }
      await nothingIsLeft(t);
    });

    t.test('checks take files, and leave nothing', async (t) => {
      const parts = [request(), { name: 'a.txt', content: 'x' }];
      const checked = await (await send('/check', parts)).json();
      t.match(checked, { ok: true }, JSON.stringify(checked));
      await nothingIsLeft(t);
    });

    t.test('an Idempotency-Key covers contents', async (t) => {
      const more = { 'idempotency-key': `k ${door}` };
      const a = { name: 'a.txt', content: 'x' };
      const jobId = await jobOf(await send('/jobs', [request(), a], more));
      t.equal(await jobOf(await send('/jobs', [request(), a], more)), jobId);
      t.equal((await send('/jobs', [request(), { ...a, content: 'y' }], more)).status, 409);
      await service.wait(jobId);
      await service.forget(jobId);
      await nothingIsLeft(t);
    });

    t.test('what is refused says why, leaves nothing, and the connection can be used again', async (t) => {
      const a = { name: 'a.txt', content: 'x' };
      const many = Array.from({ length: 501 }, (_, index) => ({ ...a, name: `${index}.txt` }));
      const cases: [parts: Part[], status: number, message: RegExp, end?: string][] = [
        [[], 400, /not received whole|first part of the form/],
        [[a, request()], 400, /The first part of the form is `request`/],
        [[{ name: 'request', content: 'no JSON' }, a], 400, /JSON body required/],
        [[{ name: 'request', content: '{}' }, a], 400, /code must be given/],
        [[{ name: 'request', content: `"${'x'.repeat(1024 ** 2)}"` }], 413, /larger than/],
        [[request(), a, { ...a, name: '../b.txt' }], 400, /no name of a file/],
        [[request(), a, { ...a, name: '' }], 400, /is a text/],
        [[request(), a, { ...a, name: 'b\u0000.txt' }], 400, /no name|is a text/],
        [[request(), a, { ...a, name: '__proto__' }], 400, /no kind/],
        [[request(), a, { ...a, name: 'tmp/b.txt' }], 400, /would not find/],
        [[request(), a, a], 400, /a.txt is given twice/],
        [[request(), a, { ...a, name: 'b.png' }], 400, /b.png: The content is not that/],
        [[request(), { ...a, content: 'x'.repeat(100_001) }, { ...a, name: 'b.txt' }], 400, /at most/],
        [[request(), ...many], 400, /at most 500 files/],
        [[request({ files: { 'a.txt': kept.fileId } }), a], 400, /a.txt is given twice/],
        [[request({ files: { 'b.txt': 'f0' } }), a], 404, /There is no file f0/],
        [
          [request(), a],
          400,
          /not received whole/,
          '--x\r\nContent-Disposition: form-data; name="b.txt"\r\n\r\nxx',
        ],
      ];
      for (const [parts, status, message, end] of cases) {
        const response = await send('/jobs', parts, {}, end);
        t.equal(response.status, status, String(message));
        const { error, message: text = '' } = (await response.json()) as { error: string; message?: string };
        t.match(`${error} ${text}`, message);
        t.notMatch(`${error} ${text}`, /\/tmp\/|at .*\.ts/);
      }
      const batch = await send('/jobs/batch', [request(), a]);
      t.equal(batch.status, 400, 'several requests come as JSON');
      await nothingIsLeft(t);
    });

    t.test('a client that leaves in the middle leaves nothing', async (t) => {
      const jobs = (await service.list({ owner: 'ada' })).length;
      const parts = [
        request(),
        { name: 'a.txt', content: 'x' },
        { name: 'b.txt', content: 'y'.repeat(50_000) },
      ];
      const socket = await openSocket({ port });
      socket.on('error', () => {});
      const head = ['POST /api/tools/v1/jobs HTTP/1.1', 'Host: a', 'Authorization: Bearer ada'];
      const body = formOf(parts, '');
      socket.write(
        `${[...head, `Content-Type: ${headers['content-type']}`, `Content-Length: ${body.length + 99}`].join('\r\n')}\r\n\r\n${body}`,
      );
      const bytes = async () => (await service.files.usage('ada')).bytes;
      await until(() => receivedIn(workFolder).length > 0);
      socket.destroySoon();
      await until(() => receivedIn(workFolder).length === 0);
      await until(async () => (await bytes()) === 4);
      await nothingIsLeft(t);
      t.equal((await service.list({ owner: 'ada' })).length, jobs);
    });
  });
