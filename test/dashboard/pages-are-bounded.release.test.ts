import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import type { JobRecord } from '../../lib/model/job.ts';
import { deliveryRecord } from '../fixtures/delivery-record.ts';
import { jobRecord } from '../fixtures/job-record.ts';
import { peopledAppliance } from './browser.ts';
import { signedIn } from './client.ts';

const MOST_BYTES = 500_000;
const MOST_TAGS = 10_000;
/** Processor time of one turn of the event loop; mostly it is less than 20 ms, without the collection of garbage. */
const MOST_BLOCKED_MS = 100;
/** What a request may have in all. */
const ROOM = 200_000;
const SAMPLES = 2;
const JOBS = 400;

/** Asks for pages from a thread, whose own work does not block the loop of the server. */
const CLIENT = `
const { parentPort, workerData } = require('node:worker_threads');
const { request } = require('node:http');
parentPort.on('message', ({ path, cookie, body }) => {
  const headers = { cookie, ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }) };
  const ask = request({ host: '127.0.0.1', port: workerData, path, headers, method: body === undefined ? 'GET' : 'POST' }, (answer) => {
    const chunks = [];
    answer.on('data', (chunk) => chunks.push(chunk));
    answer.on('end', () => parentPort.postMessage({ status: answer.statusCode, text: Buffer.concat(chunks).toString() }));
  });
  ask.end(body);
});
`;

interface Seen {
  status: number;
  bytes: number;
  tags: number;
  blockedMs: number;
}

/** Sees how large pages are, and for how long they block the event loop of this process. */
function observer(t: Test, port: number, cookie: string) {
  const worker = new Worker(CLIENT, { eval: true, workerData: port });
  t.teardown(() => worker.terminate());
  return async (path: string, body?: string): Promise<Seen> => {
    const times: number[] = [];
    let answer = { status: 0, text: '' };
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const heard = new Promise<typeof answer>((resolve) => worker.once('message', resolve));
      worker.postMessage({ path: `/dashboard${path}`, cookie, body });
      const [longest, heardAnswer] = await longestTurnMs(heard);
      times.push(longest);
      answer = heardAnswer;
    }
    const { status, text } = answer;
    return {
      status,
      bytes: Buffer.byteLength(text),
      tags: text.split('<').length,
      blockedMs: Math.min(...times),
    };
  };
}

/** Processor time of the longest turn of the event loop until a promise is resolved: not the wait for a processor. */
async function longestTurnMs<T>(awaited: Promise<T>): Promise<[number, T]> {
  let isOver = false;
  let longest = 0;
  const over = awaited.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const begun = process.threadCpuUsage();
    await new Promise((resolve) => setImmediate(resolve));
    const { user, system } = process.threadCpuUsage(begun);
    longest = Math.max(longest, (user + system) / 1000);
  }
  return [longest, await over];
}

const filled = (text: string, length = ROOM) => text.repeat(Math.ceil(length / text.length)).slice(0, length);
const id = (number: number) => String(number).padStart(26, '0');

t.test('pages with the most that an account can make are small and do not block others', async (t) => {
  const { port, member, installation, service } = await peopledAppliance(t);
  const { administration, place, accounts } = installation;
  const { storage } = place;
  const owner = (await accounts.find(member)).accountId;
  const insert = (job: JobRecord, code: string) =>
    storage.transaction((tx) => storage.insertJob(tx, job, code));
  const failed = (jobId: string, change: Partial<JobRecord>) =>
    jobRecord(jobId, { owner, phase: 'failed', failedBy: 'scene', createdAtMs: Date.now(), ...change });

  const codes: Record<string, string> = {
    'line breaks': '\n'.repeat(98_000),
    'empty lines of text': 'a\n'.repeat(98_000),
    escapes: filled('&'),
    quotes: filled('"'),
    'hidden characters': filled('\u0001'),
    'wide hidden characters': filled('\u202e', ROOM / 3),
    'wide characters': filled('\uffee', ROOM / 3),
    classes: filled('class A(Scene):\n'),
    real: filled('        self.play(Create(Square()), run_time=2)\n'),
  };
  const pages: Page[] = [];
  let number = 1000;
  for (const [name, code] of Object.entries(codes)) {
    const jobId = id(++number);
    await insert(failed(jobId, { error: `line 90000: it failed\n${filled('&', 4000)}` }), code);
    pages.push([`job: ${name}`, `/jobs/${jobId}`], [`playground: ${name}`, `/playground?job=${jobId}`]);
  }
  for (const [name, character] of Object.entries({ escapes: '&', wide: '\uffee' })) {
    const jobId = id(++number);
    const metadataJson = JSON.stringify(filled(character, ROOM / Buffer.byteLength(character)));
    await insert(failed(jobId, { metadataJson, webhookUrl: 'https://a.test/' }), 'x');
    const output = filled(character, 33_000);
    const plays = Array.from({ length: 1000 }, (_, index) => ({
      line: 100_000 + index,
      shows: filled(character, 60),
      startSeconds: index * 1.234567,
      seconds: 1.234567,
    }));
    const completed = id(++number);
    const artifacts = ['video.mp4', 'thumbnail.jpg', 'captions.vtt'].map((name) => ({
      name: name as 'video.mp4',
      assetKey: `${completed}-1/${name}`,
      sizeBytes: 1e9,
    }));
    await insert(
      jobRecord(completed, { owner, phase: 'completed', artifacts, metadataJson, createdAtMs: Date.now() }),
      filled(character, 1000),
    );
    await storage.transaction((tx) => storage.putTrace(tx, completed, { plays, output }));
    pages.push(
      [`job: metadata of ${name}`, `/jobs/${jobId}`],
      [`job: plays and output of ${name}`, `/jobs/${completed}`],
    );
    pages.push([`playground: plays and output of ${name}`, `/playground?job=${completed}`]);
    const deliveryId = id(number);
    const body = JSON.stringify({ jobId: completed, metadata: JSON.parse(metadataJson) });
    await storage.transaction(async (tx) => {
      const url = `https://a.test/${encodeURIComponent(character)}`;
      const attempts = Array.from({ length: 4 }, () => ({
        startedAtMs: 1,
        endedAtMs: 2,
        status: 500,
        reason: null,
        detail: null,
      }));
      const delivery = deliveryRecord(deliveryId, { jobId: completed, owner, url, dueAtMs: null });
      await storage.deliveries.insert(tx, delivery, body);
      for (let attempt = 0; attempt < 4; attempt += 1) {
        await storage.deliveries.update(
          tx,
          { ...delivery, attempts },
          { attempt, signature: 't=1,v1=1', answer: filled(character, 1000) },
        );
      }
    });
    pages.push([`webhook: body of ${name}`, `/webhooks/${deliveryId}`]);
  }
  // A page of the list, and what is searched in one go.
  const className = filled('A');
  const long = id(++number);
  await insert(failed(long, { className }), 'x');
  pages.push(
    ['job: name', `/jobs/${long}`],
    ['job: forget', `/jobs/${long}/forget`],
    ['playground: name', `/playground?job=${long}`],
  );
  await storage.transaction(async (tx) => {
    for (let index = 0; index < 60; index += 1) {
      const url = `https://a.test/${filled('&', ROOM - 100)}`;
      const repeats = index === 0 ? null : id(number);
      const webhook = deliveryRecord(id(++number), { jobId: long, owner, url, repeats, dueAtMs: null });
      await storage.deliveries.insert(tx, webhook, 'x');
    }
  });
  pages.push(['webhook: address', `/webhooks/${id(number)}`]);
  pages.push(['webhooks', '/webhooks']);
  const error = `${filled('&', 4000)} line 1`;
  for (let index = 0; index < JOBS; index += 1) {
    const job = { className: filled('B', ROOM / 2), error, metadataJson: `"${filled('m', ROOM / 2)}"` };
    await insert(failed(id(++number), job), 'x');
  }
  pages.push(
    ['jobs', '/jobs'],
    ['jobs: failed', '/jobs?status=failed'],
    ['jobs: search', '/jobs?error=nothing'],
  );
  pages.push(['jobs: search that finds', '/jobs?error=line'], ['library', ''], ['overview', '/overview']);
  const jobIds: string[] = [];
  for (let index = 0; index < 100; index += 1) {
    const jobId = id(++number);
    jobIds.push(jobId);
    const artifacts = [{ name: 'video.mp4' as const, assetKey: jobId, sizeBytes: 1 }];
    await insert(
      jobRecord(jobId, {
        owner,
        phase: 'completed',
        artifacts,
        className: filled('&', 20_000),
        createdAtMs: 0,
      }),
      'x',
    );
  }
  const texts = { title: filled('"', 200), description: filled('&', 5000) };
  let shareId = '';
  for (let index = 0; index < 51; index += 1) {
    ({ shareId } = await service.shares.create({ owner, jobIds, ...texts }));
  }
  await service.shares.create({ owner, jobIds: jobIds.slice(0, 1), description: texts.description });
  await storage.transaction((tx) =>
    storage.putTrace(tx, String(jobIds[0]), {
      plays: Array.from({ length: 1000 }, (_, at) => ({
        ...{ line: 1, shows: filled('&', 60), startSeconds: at, seconds: 1 },
      })),
      output: '',
    }),
  );
  pages.push(['shares', '/shares'], ['share', `/shares/${shareId}`], ['job: share', `/jobs/${jobIds[0]}`]);
  pages.push(['share: revoke', `/shares/${shareId}/revoke`]);
  const named = { owner, title: filled('"', 200), instructions: filled('&', 10_000) };
  const classLink = await installation.classLinks.create({ owner, name: filled('&', 200), seats: 500 });
  await storage.transaction(async (tx) => {
    for (let seat = 0; seat < 500; seat += 1)
      await storage.classLinks.putSeat(tx, {
        ...{
          classLinkId: classLink.classLinkId,
          accountId: `acct_${seat}`,
          takenAtMs: seat,
          joinedAtMs: seat,
        },
      });
  });
  let assigned = await service.assignments.create({ ...named, code: filled('&', 204_800) });
  for (let index = 0; index < 51; index += 1) {
    await installation.classLinks.create({ owner, name: filled('&', 200), seats: 1 });
    if (index < 50) assigned = await service.assignments.create({ ...named, code: filled('&', 204_800) });
  }
  const copy = await service.assignments.open(assigned.token, { owner });
  pages.push(['assignments', '/assignments'], ['assignment', `/assignments/${assigned.assignmentId}`]);
  pages.push(['class link', `/class-links/${classLink.classLinkId}`]);
  pages.push(['assignment: revoke', `/assignments/${assigned.assignmentId}/revoke`]);
  pages.push(['new assignment', `/assignments/new?scene=${copy.sceneId}`]);
  pages.push(['copy', `/playground?scene=${copy.sceneId}`]);
  let keyId = '';
  for (let index = 0; index < 100; index += 1) {
    const webhookUrl = `https://a.test/${filled('&', 60_000)}`;
    ({ keyId } = await administration.keys.create({ account: member, name: filled('&', 100), webhookUrl }));
  }
  pages.push(['key', `/keys/${keyId}`], ['webhook test', `/webhooks/test?key=${keyId}`]);
  pages.push(['keys', '/keys'], ['credits', '/credits?days=365']);
  let fileId = '';
  for (let index = 0; index < 101; index += 1) {
    // The longest names, with most of them in folders, whose links are the longest part.
    const name = `${index}/${Array.from({ length: 2 }, () => filled('&', 199)).join('/')}/${filled("'", 90)}.txt`;
    const content = (async function* () {
      yield Buffer.from(`${index}${filled('&')}`);
    })();
    ({ fileId } = await administration.files.put({ account: member, name, content }));
  }
  const using = id(++number);
  await insert(failed(using, {}), 'x');
  const { files } = await administration.files.list({ account: member, limit: 200 });
  const entries = files.map(({ name, fileId }) => ({ name, fileId }));
  await storage.transaction((tx) => storage.files.use(tx, using, { setId: 'all', owner, entries }));
  pages.push(['files', '/files'], ['file', `/files/${fileId}`], ['job: files', `/jobs/${using}`]);
  pages.push(['file: remove', `/files/${fileId}/remove`]);
  const sceneName = filled('&', 200);
  for (let index = 0; index < 25; index += 1)
    await administration.scenes.create({ account: member, name: `${index}${sceneName.slice(3)}` });
  pages.push(['scenes', '/scenes']);
  const other = filled('        self.wait(1)\n');
  const keep = async () =>
    (await administration.scenes.create({ account: member, name: sceneName, code: other })).sceneId;
  const ofScenes = Object.entries(codes);
  for (const [name, code] of ofScenes) {
    const sceneId = await keep();
    await administration.scenes.save({ sceneId, revision: 1, code });
    pages.push(
      [`scene: ${name}`, `/scenes/${sceneId}`],
      [`scene: playground: ${name}`, `/playground?scene=${sceneId}`],
      [`scene: differences of ${name}`, `/scenes/${sceneId}/diff?from=draft&to=d1`],
    );
  }
  const saved = await keep();
  for (let revision = 1; revision < 54; revision += 1)
    await administration.scenes.save({
      ...{ sceneId: saved, revision, code: `# ${revision}`, keepsReplaced: true },
    });
  for (const path of ['', '/remove', '/compare', '/diff'])
    pages.push([`scene: with drafts ${path}`, `/scenes/${saved}${path}`]);
  const client = await signedIn(t, port, member);
  const csrf = /name="csrf" value="([^"]+)"/.exec((await client.get('/dashboard/account')).text)?.[1] ?? '';
  const form = (fields: Record<string, string>) => new URLSearchParams({ csrf, ...fields }).toString();
  for (const [name, code] of Object.entries(codes)) {
    pages.push([`draft: ${name}`, '/playground', form({ code, className: 'not a name' })]);
  }
  for (const [name, code] of ofScenes) {
    const stale = { scene: saved, revision: '1', className: 'A', code };
    pages.push([`conflict: ${name}`, '/playground/save', form(stale)]);
  }
  pages.push(['new key', '/keys', `csrf=${csrf}&name=${filled('"', 60_000)}`]);
  pages.push([
    'selection',
    '/jobs/selection',
    `csrf=${csrf}&action=forget&jobId=1&back=${filled('"', 60_000)}`,
  ]);
  pages.push([
    'selection of many',
    '/jobs/selection',
    `csrf=${csrf}&action=forget${filled('&jobId="', 60_000)}`,
  ]);
  pages.push(['test event', '/webhooks/test', `csrf=${csrf}&key=${keyId}&url=${filled('"', 60_000)}`]);
  pages.push(['not found', `/jobs/${filled('&', 10_000)}`]);
  const cookie = Array.from(client.cookies, ([name, value]) => `${name}=${value}`).join('; ');
  await lookAt(t, observer(t, port, cookie), pages);
});

t.test('pages for administrators are small and do not block others', async (t) => {
  const { port, admin, installation } = await peopledAppliance(t);
  const { administration, place, accounts } = installation;
  const { accountId } = await accounts.find(admin);
  for (let index = 0; index < 110; index += 1) {
    await administration.accounts.create({ email: `${filled('a', 55)}${index}@${'example.'.repeat(20)}org` });
    await place.actStore.appendAct({
      actId: id(index),
      atMs: Date.now(),
      actor: accountId,
      action: 'jobs.cancel',
      subject: filled('&', 60_000),
      address: '192.0.2.1',
    });
  }
  const client = await signedIn(t, port, admin);
  const cookie = Array.from(client.cookies, ([name, value]) => `${name}=${value}`).join('; ');
  await lookAt(t, observer(t, port, cookie), [
    ['accounts', '/accounts'],
    ['search of accounts', `/accounts?q=${filled('%26', 600)}`],
    ['account', `/accounts/${accountId}`],
    ['acts', '/acts'],
    ['service', '/service'],
    ['library', ''],
    ['overview', '/overview'],
    ['webhooks', '/webhooks'],
  ]);
});

type Page = [name: string, path: string, body?: string];

async function lookAt(t: Test, look: ReturnType<typeof observer>, pages: Page[]): Promise<void> {
  for (const [name, path, body] of pages) {
    const { bytes, blockedMs, tags, status } = await look(path, body);
    t.comment(
      `${name.padEnd(40)} ${status} ${String(Math.round(bytes / 1000)).padStart(6)} kB ` +
        `${blockedMs.toFixed(1).padStart(6)} ms ${String(tags).padStart(7)} tags`,
    );
    const expected =
      name === 'not found'
        ? 404
        : /^conflict/.test(name)
          ? 409
          : /^draft|^new key|^test event/.test(name)
            ? 400
            : 200;
    t.equal(status, expected, name);
    t.ok(bytes <= MOST_BYTES, `${name} has ${bytes} bytes`);
    t.ok(tags <= MOST_TAGS, `${name} has ${tags} tags`);
    t.ok(blockedMs <= MOST_BLOCKED_MS, `${name} blocks the loop for ${Math.round(blockedMs)} ms`);
  }
}
