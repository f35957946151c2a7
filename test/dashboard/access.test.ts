import t from 'tap';
import { OPERATIONS } from '../../appliance/admin/operations.ts';
import type { Route } from '../../appliance/dashboard/route.ts';
import { routesOf } from '../../appliance/dashboard/routes.ts';
import type { ShareRecord } from '../../lib/model/share.ts';
import type { SnapshotRecord } from '../../lib/model/snapshot.ts';
import type { Storage } from '../../lib/storage/storage.ts';
import { assignmentRecord, classLinkRecord } from '../fixtures/classroom-records.ts';
import { peopledAppliance } from './browser.ts';
import { Client, signedIn } from './client.ts';

/** Made of the table itself, so that a new route is tried too. Its handlers aren't called. */
const ROUTES = routesOf({} as Parameters<typeof routesOf>[0]);

async function ownedByAdmin(t: Parameters<typeof peopledAppliance>[0]) {
  const appliance = await peopledAppliance(t);
  const { admin, member, installation, service } = appliance;
  const { administration } = installation;
  const { keyId } = await administration.keys.create({ account: admin, name: 'key-of-the-admin' });
  const { accountId } = await installation.accounts.find(admin);
  const request = { owner: accountId, className: 'SceneOfTheAdmin', code: 'code-of-the-admin' };
  const { jobId } = await service.enqueue(request);
  const webhook = { url: 'https://hooks-of-the-admin.invalid/', secret: 'whsec_1' };
  const hooked = await service.enqueue({ ...request, webhook });
  await service.cancel(hooked.jobId);
  const [delivery] = await service.deliveries.list({ owner: accountId });
  const deliveryId = String(delivery?.deliveryId);
  const content = (async function* () {
    yield Buffer.from('content-of-the-admin');
  })();
  const { fileId } = await administration.files.put({
    account: admin,
    name: 'file-of-the-admin.txt',
    content,
  });
  const { storage } = installation.place;
  const snapshotId = await snapshotOf(storage, accountId);
  const shareId = await shareOf(storage, accountId, jobId);
  const { assignmentId, classLinkId } = await linksOf(storage, accountId);
  const { sceneId } = await administration.scenes.create({
    account: admin,
    name: 'scene-of-the-admin',
    code: 'code-of-the-admin',
    className: 'SceneOfTheAdmin',
  });
  await administration.credits.grant({ account: admin, paid: 7_654_321 });
  const state = async () =>
    JSON.stringify([
      await administration.keys.list({ account: admin }),
      await administration.jobs.list({ account: admin }),
      (await administration.deliveries.list({ account: admin })).length,
      await administration.files.list({ account: admin }),
      await administration.shares.list({ account: admin }),
      await administration.scenes.list({ account: admin }),
      await administration.assignments.list({ account: admin }),
      await administration.classLinks.list({ account: admin }),
      await administration.credits.balance({ account: admin }),
      await administration.accounts.list(),
    ]);
  return {
    ...appliance,
    keyId,
    jobId,
    fileId,
    sceneId,
    shareId,
    assignmentId,
    classLinkId,
    deliveryId,
    snapshotId,
    accountId,
    member,
    state,
  };
}

async function linksOf(storage: Storage, owner: string) {
  const assignment = assignmentRecord('a1', {
    ...{ owner, title: 'assignment-of-the-admin', code: 'code-of-the-admin', token: 'token-of-the-admin' },
  });
  const classLink = classLinkRecord('c1', { owner, name: 'class-of-the-admin', token: 'token-of-the-admin' });
  await storage.transaction(async (tx) => {
    await storage.assignments.insert(tx, assignment);
    await storage.classLinks.insert(tx, classLink);
  });
  return { ...assignment, ...classLink };
}

async function shareOf(storage: Storage, owner: string, jobId: string): Promise<string> {
  const share: ShareRecord = {
    ...{ shareId: 's1', owner, token: 'token-of-the-admin', tokenHash: 'x', jobIds: [jobId], views: 0 },
    ...{ title: 'share-of-the-admin', description: null, poster: null, visibility: 'link', allowDownload: 1 },
    ...{ createdAtMs: 0, expiresAtMs: null, revokedAtMs: null },
  };
  await storage.transaction((tx) => storage.shares.insert(tx, share));
  return share.shareId;
}

/** Pictures of an account. Who may not see them gets the same answer whether there are files or not. */
async function snapshotOf(storage: Storage, owner: string): Promise<string> {
  const snapshot: SnapshotRecord = {
    ...{ snapshotId: 's1', owner, phase: 'kept', reserveCredits: 0, costCredits: 0 },
    ...{ createdAtMs: 0, dueAtMs: 2 ** 45, files: [{ name: 'sheet.jpg', sizeBytes: 1 }] },
  };
  await storage.transaction((tx) => storage.snapshots.insert(tx, snapshot));
  return snapshot.snapshotId;
}

/** Texts that no response to another person contains. */
const THEIRS =
  /key-of-the-admin|SceneOfTheAdmin|code-of-the-admin|(?:file|scene|share|token|assignment|class)-of-the-admin|content-of-the-admin|hooks-of-the-admin|7,654,321|admin@example/;

t.test('without a session every route except public ones leads to the sign-in', async (t) => {
  const { port } = await peopledAppliance(t);
  t.ok(ROUTES.length > 20);
  t.same(
    ROUTES.filter((route) => route.for === 'everyone').map(({ method, path }) => `${method} ${path}`),
    [
      ...['GET /sign-in', 'POST /sign-in', 'GET /sign-in/code', 'POST /sign-in/code'],
      ...['GET /set-up', 'POST /set-up', 'POST /language'],
    ],
  );
  const isLink = (route: Route) => 'strangers' in route;
  t.same(
    ROUTES.filter(isLink).map(({ method, path }) => `${method} ${path}`),
    ['GET /join/{token}', 'POST /join/{token}', 'GET /a/{token}', 'POST /a/{token}'],
  );
  for (const route of ROUTES.filter((route) => route.for !== 'everyone' && !isLink(route))) {
    const path = `/dashboard${route.path.replaceAll(/\{\w+\}/g, 'x')}`;
    const client = new Client(port);
    const { status, headers } = await (route.method === 'GET' ? client.get(path) : client.postAsIs(path, {}));
    t.equal(status, 302, `${route.method} ${path}`);
    t.match(headers.location, /^\/dashboard\/sign-in/);
  }
});

t.test("a member can read and change other accounts' data by id on no route", async (t) => {
  const {
    port,
    admin,
    member,
    keyId,
    jobId,
    fileId,
    sceneId,
    shareId,
    assignmentId,
    classLinkId,
    deliveryId,
    snapshotId,
    accountId,
    state,
  } = await ownedByAdmin(t);
  const client = await signedIn(t, port, member);
  const before = await state();
  const ids: Record<string, string> = {
    ...{ keyId, jobId, fileId, sceneId, shareId, deliveryId, userId: accountId, machineId: 'any' },
    ...{ snapshotId, name: 'sheet.jpg', version: '1', assignmentId, classLinkId, token: 'A'.repeat(24) },
  };
  // Ends the session, or never ends.
  const others = ROUTES.filter(({ path }) => !/^\/(sign-out|live|account\/sign-out-everywhere)$/.test(path));
  for (const { method, path, for: whom } of others) {
    const url = `/dashboard${path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => ids[name] ?? whole)}`;
    t.notMatch(url, '{', 'the ids of all routes are known to this test');
    for (const account of [admin, accountId]) {
      const fields = {
        account,
        keyId,
        key: keyId,
        jobId,
        job: jobId,
        scene: sceneId,
        action: 'forget',
        confirmed: 'yes',
        since: '2020-01-01T00:00',
        name: 'Intruder',
        webhookUrl: 'https://evil.example/',
        email: admin,
      };
      const answer =
        method === 'GET'
          ? await client.get(`${url}?${new URLSearchParams(fields)}`)
          : await client.post(url, fields);
      t.notMatch(
        answer.text.replaceAll(admin, account),
        account === admin
          ? /key-of-the-admin|SceneOfTheAdmin|code-of-the-admin|(?:file|scene|share|token|assignment|class)-of-the-admin|content-of-the-admin|hooks-of-the-admin|7,654,321/
          : THEIRS,
        `${method} ${url}`,
      );
      const refused = whom === 'admins' ? 403 : 404;
      if (refused === 403 || path.includes('{')) t.equal(answer.status, refused, `${method} ${url}`);
    }
  }
  t.equal(await state(), before, 'nothing of the administrator has changed');
});

t.test("other accounts' data gets the same answer as missing data", async (t) => {
  const { port, member, keyId, jobId, shareId } = await ownedByAdmin(t);
  const client = await signedIn(t, port, member);
  const textOf = async (path: string) => {
    const { status, text } = await client.get(path);
    t.equal(status, 404);
    return text.replace(/Request [\w-]+/, '').replace(/data-now="[^"]+"/, '');
  };
  const absent = 'key_000000000000000000000000';
  t.equal(
    (await textOf(`/dashboard/keys/${keyId}`)).replaceAll(keyId, absent),
    await textOf(`/dashboard/keys/${absent}`),
  );
  t.equal(await textOf(`/dashboard/jobs/${jobId}`), await textOf(`/dashboard/jobs/${'0'.repeat(48)}`));
  t.equal(await textOf(`/dashboard/shares/${shareId}`), await textOf('/dashboard/shares/s2'));
});

t.test('every operation of the administration is limited for members', async (t) => {
  const { installation, admin, member, ...owned } = await ownedByAdmin(t);
  const { keyId, jobId, fileId, sceneId, shareId, assignmentId, classLinkId, deliveryId, state } = owned;
  const { accountId } = await installation.accounts.find(member);
  const scoped = installation.administrationFor({ accountId, isAdmin: false, address: '192.0.2.1' });
  const before = await state();
  const request = {
    account: admin,
    keyId,
    jobId,
    jobIds: [jobId],
    fileId,
    shareId,
    sceneId,
    assignmentId,
    classLinkId,
    token: 'A'.repeat(24),
    deliveryId,
    paid: 1,
    name: 'x',
    password: 'a new password',
    folder: '/nowhere',
  };
  for (const [noun, operations] of Object.entries(OPERATIONS)) {
    for (const [name, { members }] of Object.entries(operations)) {
      if (members === 'anything') continue;
      const part = scoped[noun as keyof typeof scoped] as unknown as Record<
        string,
        (request: object) => Promise<unknown>
      >;
      const outcome = await part[name]?.(request).catch((error: Error & { code?: string }) => error);
      t.match(
        outcome,
        members === 'nothing' ? { message: 'Only administrators may do this.' } : { code: 'not_found' },
        `${noun}.${name}`,
      );
    }
  }
  t.equal(await state(), before);
  t.same(await installation.place.actStore.listActs({ limit: 10 }), [], 'a refused act is not recorded');
});

t.test('an administrator sees the data of all accounts', async (t) => {
  const { port, admin, installation } = await peopledAppliance(t);
  await installation.administration.keys.create({ account: 'ada@example.org', name: 'Key of Ada' });
  const client = await signedIn(t, port, admin);
  t.notMatch((await client.get('/dashboard/keys')).text, 'Key of Ada');
  t.match((await client.get('/dashboard/keys?account=ada@example.org')).text, 'Key of Ada');
  t.match((await client.get('/dashboard/credits?account=ada@example.org')).text, '1,001,000');
});
