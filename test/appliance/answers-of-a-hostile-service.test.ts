import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { RemoteRenderer } from '../../appliance/cli/remote-renderer.ts';
import { RemoteService } from '../../appliance/cli/remote-service.ts';
import type { LocalRender } from '../../lib/index.ts';
import { listen } from './hostile-service.ts';

const MOST_BYTES = 100_000;
const REQUEST = { code: 'x', className: 'A', quality: 'low', aspectRatio: '16:9' } as const;

/** A service whose jobs have ended with this answer; other paths are left to `serve`. */
async function service(
  t: Test,
  job: (url: string) => object,
  serve: (request: IncomingMessage, response: ServerResponse) => void = (_, response) =>
    response.end('bytes'),
): Promise<string> {
  const url: string = await listen(t, (request, response) => {
    const path = request.url ?? '';
    const send = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    if (request.method === 'POST') send(202, { jobId: 'j', status: 'queued', endpoint: 'render' });
    else if (path.startsWith('/api/tools')) send(404, { error: 'Not Found' });
    else if (path.startsWith('/api')) {
      const ended = { status: 'completed', durationMs: 1, error: null, completedAt: '2026', result: null };
      send(200, { ...ended, ...job(url) });
    } else serve(request, response);
  });
  return url;
}

/** Somewhere that a service must not have requested, with the number of requests. */
async function elsewhere(t: Test): Promise<{ url: string; visits: () => number }> {
  let visits = 0;
  const url = await listen(t, (_, response) => {
    visits += 1;
    response.end('bytes');
  });
  return { url, visits: () => visits };
}

async function rendered(t: Test, url: string, artifacts: string[] = []): Promise<LocalRender> {
  const renderer = new RemoteRenderer(
    new RemoteService({ url, key: 'k', artifacts }, { mostBytes: MOST_BYTES }),
  );
  const render = await renderer.render(REQUEST);
  t.teardown(() => renderer.discard(render));
  return render;
}

/** Writes until the connection is closed. */
async function flood(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    response.write('x'.repeat(65_536));
    await delay(1);
  }
}

t.test('files come from the address of the service, and from those that were named', async (t) => {
  const other = await elsewhere(t);
  const direct = await service(t, () => ({ result: { video: `${other.url}/v` } }));
  const redirecting = await service(
    t,
    (url) => ({ result: { video: `${url}/v` } }),
    (_, response) => void response.writeHead(302, { location: `${other.url}/v` }).end(),
  );
  for (const url of [direct, redirecting]) {
    await t.rejects(rendered(t, url), {
      message: `${url}: it sends its files from ${other.url}. If they belong there: --artifacts ${other.url}`,
    });
    t.equal(other.visits(), 0);
  }
  for (const url of [direct, redirecting]) {
    const { files } = await rendered(t, url, [other.url]);
    t.match(files, [{ name: 'video.mp4' }]);
    t.equal(await readFile(files[0]?.path ?? '', 'utf8'), 'bytes');
  }
  t.equal(other.visits(), 2);
  const local = await service(t, () => ({ result: { video: 'file:///etc/passwd' } }));
  await t.rejects(rendered(t, local), { message: /it sends its files by file$/ });
});

t.test('a key is not sent where an API redirects to', async (t) => {
  const other = await elsewhere(t);
  const url = await listen(t, (_, response) => void response.writeHead(307, { location: other.url }).end());
  await t.rejects(rendered(t, url), { message: /it redirects to http\S+\. If the service is there/ });
  t.equal(other.visits(), 0);
});

t.test('only the known artifacts are saved, under their own names', async (t) => {
  const url = await service(t, (url) => ({
    result: JSON.parse(
      `{"../video":"${url}/a","__proto__":"${url}/b","toString":"${url}/c","video":"${url}/v","length":3}`,
    ),
  }));
  const { files } = await rendered(t, url);
  t.strictSame(
    files.map(({ name }) => name),
    ['video.mp4'],
  );
  for (const result of ['video', 7, ['x'], true]) {
    const strange = await service(t, () => ({ result, error: 'e'.repeat(100_000), durationMs: 'long' }));
    t.match(await rendered(t, strange), { files: [], error: 'e'.repeat(4096), durationMs: 0 });
  }
});

t.test('what is larger than its limit is not saved', async (t) => {
  const large = await service(
    t,
    (url) => ({ result: { video: `${url}/v` } }),
    (_, response) => void flood(response),
  );
  await t.rejects(rendered(t, large), { message: /it sends more than 0 MiB/ });
  const talkative = await listen(t, (_, response) => {
    response.writeHead(202, { 'content-type': 'application/json' });
    void flood(response);
  });
  await t.rejects(rendered(t, talkative), { message: /it sends more than 16 MiB/ });
});

t.test('what a service tells of a render besides is used if it is known', async (t) => {
  const told = { diagnosis: null, output: 'seen\u001b', usage: null, failure: { kind: 'limit:time' } };
  for (const [more, expected] of [
    [
      { ...told, added: 1 },
      { output: 'seen\u001b', failedBy: 'limit:time', diagnosis: null },
    ],
    [
      { ...told, failure: { kind: 'canceled' } },
      { output: 'seen\u001b', failedBy: null },
    ],
    [
      { ...told, output: 'x'.repeat(50_000) },
      { output: '', failedBy: null },
    ],
    [
      { ...told, diagnosis: 'none' },
      { output: '', failedBy: null, diagnosis: null },
    ],
    [7, { output: '', failedBy: null, usage: null }],
  ] as const) {
    const url = await listen(t, (request, response) => {
      const path = request.url ?? '';
      const ended = { status: 'failed', durationMs: 1, error: 'e', completedAt: '2026', result: null };
      const send = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body));
      if (request.method === 'POST') send(202, { jobId: 'j' });
      else if (path === '/api/tools/v1/jobs/j') send(200, more);
      else if (path.startsWith('/api/tools')) send(404, {});
      else send(200, ended);
    });
    t.match(await rendered(t, url), { ...expected, error: 'e' });
  }
});
