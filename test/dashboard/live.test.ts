import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { server as createHapi } from '@hapi/hapi';
import t, { type Test } from 'tap';
import { LiveEvents } from '../../appliance/dashboard/live-events.ts';
import { Sessions, type Viewer } from '../../appliance/dashboard/sign-in/sessions.ts';
import type { AccountStore } from '../../lib/accounts/account-store.ts';
import { Accounts } from '../../lib/index.ts';
import { peopledAppliance } from './browser.ts';
import { type Client, signedIn } from './client.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');
const PROGRESS = { stage: 'rendering', frames: 30, seconds: 2 } as const;

/** The events of a stream, as they come. */
async function listen(t: Test, port: number, client: Client) {
  const cookie = Array.from(client.cookies, ([name, value]) => `${name}=${value}`).join('; ');
  const sent = request({ port, host: '127.0.0.1', path: '/dashboard/live', headers: { cookie } }).end();
  t.teardown(() => sent.destroy());
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  t.match([response.statusCode, response.headers['content-type']], [200, 'text/event-stream']);
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  // The test's end aborts what is still open.
  response.on('error', () => {});
  const ended = new Promise<void>((resolve) => void response.once('close', resolve));
  const until = async (pattern: RegExp) => {
    while (!pattern.test(text)) await once(response, 'data');
  };
  return { text: () => text, until, ended };
}

t.test('members get events of their own jobs, administrators of all', async (t) => {
  const { port, admin, member, installation, service } = await peopledAppliance(t);
  const streams = await Promise.all(
    [admin, member].map(async (email) => listen(t, port, await signedIn(t, port, email))),
  );
  const [all, own] = streams as [(typeof streams)[0], (typeof streams)[0]];
  const enqueue = async (email: string) => {
    const { accountId } = await installation.accounts.find(email);
    return (await service.enqueue({ owner: accountId, className: 'A', code: 'x' })).jobId;
  };
  const foreign = await enqueue(admin);
  const mine = await enqueue(member);
  await Promise.all([own.until(new RegExp(mine)), all.until(new RegExp(mine))]);
  t.match(own.text(), `event: job\ndata: {"jobId":"${mine}","status":"queued"}\n\n`);
  t.notMatch(own.text(), foreign);
  t.match(all.text(), foreign);
});

/** An appliance that renders a job of its member. */
async function rendering(t: Test) {
  const appliance = await peopledAppliance(t, { python: INSTANT_PYTHON, insecureNoSandbox: true });
  const { service, installation, member } = appliance;
  const { accountId } = await installation.accounts.find(member);
  const started = new Promise<string>((resolve) => {
    service.on('job', ({ jobId, status }) => status === 'running' && resolve(jobId));
  });
  await service.enqueue({ owner: accountId, className: 'Slow', code: 'linger' });
  return { ...appliance, accountId, jobId: await started };
}

t.test('members see progress and pictures of a job that another machine announces late', async (t) => {
  const { port, member, service, accountId, jobId } = await rendering(t);
  const client = await signedIn(t, port, member);
  const { until } = await listen(t, port, client);
  service.emit('remoteJob', { jobId, owner: accountId, status: 'queued' });
  service.emit('progress', jobId, PROGRESS);
  service.emit('preview', jobId, Buffer.from('a picture'));
  await until(/event: progress\ndata: .*30 frames, 2\.0 s of video/);
  await until(/event: picture/);
  t.equal((await client.get(`/dashboard/jobs/${jobId}/picture`)).text, 'a picture');
});

t.test('members see progress and pictures of a job that began before the server started', async (t) => {
  const { installation, service, accountId, jobId } = await rendering(t);
  const { accounts, place } = installation;
  const sessions = new Sessions({ store: place.sessionStore, accounts });
  const live = new LiveEvents({ service, sessions });
  t.teardown(() => live.stop());
  const viewer = (await sessions.find(await sessions.begin(accountId))) as Viewer;
  const stranger = live.open({ ...viewer, accountId: 'another' });
  const stream = live.open(viewer).setEncoding('utf8');
  service.emit('progress', jobId, PROGRESS);
  service.emit('preview', jobId, Buffer.from('a picture'));
  let text = '';
  for await (const chunk of stream) {
    text += chunk;
    if (/event: picture/.test(text)) break;
  }
  t.match(text, 'event: progress');
  t.same(live.pictureOf(jobId), Buffer.from('a picture'));
  t.notMatch(String(stranger.read()), jobId);

  await service.cancel(jobId);
  service.emit('preview', jobId, Buffer.from('late'));
  await service.get(jobId);
  t.equal(live.pictureOf(jobId), undefined, 'gone with the render');
});

t.test('open streams do not delay a stop', async (t) => {
  const { port, member, stop } = await peopledAppliance(t);
  const { ended } = await listen(t, port, await signedIn(t, port, member));
  const began = performance.now();
  await stop();
  await ended;
  t.ok(performance.now() - began < 9_000, 'sooner than the grace period of requests');
});

t.test('a stream ends with its client and with its session', async (t) => {
  const { installation, service, member } = await peopledAppliance(t);
  const { accounts, place } = installation;
  const { accountId } = await accounts.find(member);
  const sessions = new Sessions({ store: place.sessionStore, accounts });
  const live = new LiveEvents({ service, sessions });
  t.teardown(() => live.stop());
  const hapi = createHapi({ port: 0 });
  const open = async () => live.open((await sessions.find(await sessions.begin(accountId))) as Viewer);
  const left = await open();
  hapi.route({ method: 'GET', path: '/', handler: (_request, h) => h.response(left) });
  await hapi.start();
  t.teardown(() => hapi.stop());

  const sent = request(`${hapi.info.uri}/`).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  t.equal(live.size, 1);
  const closed = once(left, 'close');
  response.on('error', () => {}).destroy();
  await closed;
  t.equal(live.size, 0);

  const stream = (await open()).resume();
  await sessions.endAll(accountId);
  await live.beat();
  await once(stream, 'end');
  t.equal(live.size, 0);
});

t.test('a stream is kept while the account of its session cannot be read', async (t) => {
  const { installation, service, member } = await peopledAppliance(t);
  const { accounts, place } = installation;
  const { accountId } = await accounts.find(member);
  const store = place.sessionStore;
  const sessions = new Sessions({ store, accounts });
  const viewer = (await sessions.find(await sessions.begin(accountId))) as Viewer;
  const away: Pick<AccountStore, 'getAccount'> = { getAccount: () => Promise.reject(new Error('away')) };
  const withoutAccounts = new Sessions({ store, accounts: new Accounts({ store: away as AccountStore }) });
  const live = new LiveEvents({ service, sessions: withoutAccounts });
  t.teardown(() => live.stop());
  const stream = live.open(viewer).setEncoding('utf8');
  await live.beat();
  t.equal(live.size, 1);
  t.match(stream.read(), /\n:\n\n$/);
});
