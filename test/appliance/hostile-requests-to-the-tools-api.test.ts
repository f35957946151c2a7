/**
 * Each parameter and each field of each route of the tools API, as its document describes them, gets ids of another
 * account, paths, odd texts and URLs of this machine. A parameter in a path that is new needs a valid value in `VALID`.
 */
import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { server as createHapi } from '@hapi/hapi';
import t from 'tap';
import { toolsApi } from '../../appliance/http/render-api.ts';
import { type Caller, nodeHandler, webHandler } from '../../lib/web/index.ts';
import { toolsDocument } from '../../lib/web/tools/document.ts';
import { isDeep, isRelease } from '../fixtures/depth.ts';
import { HOSTILE_SEGMENTS, HOSTILE_TEXTS, hostileUrls } from '../fixtures/hostile-values.ts';
import { instantService } from '../fixtures/instant-service.ts';
import { until } from '../fixtures/until.ts';

type Schema = Record<string, unknown>;
interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
}
interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}
const { paths, components } = JSON.parse(JSON.stringify(toolsDocument('https://a.test'))) as Document;

/** Before a release all combinations are tried; otherwise every value and every place, but only this share. */
const SHARE = isRelease ? 1 : isDeep ? 9 : 28;
let combinations = 0;
const isChosen = () => combinations++ % SHARE === 0;
/** Only in what belongs to the other account. */
const SECRET = 'bobs-secret';
const BOBS_SCENE = {
  code: `x = 0  # echo ${SECRET}`,
  className: 'Main',
  title: `${SECRET} title`,
  tags: [SECRET],
  metadataJson: `{"secret":"${SECRET}"}`,
};

// What counts connections: servers of this machine that no request may reach.
let connections = 0;
async function listen(port: number, address: string): Promise<number> {
  const trap = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(port, address);
  t.teardown(() => trap.close());
  await once(trap, 'listening');
  return (trap.address() as AddressInfo).port;
}
const TRAP_PORT = await listen(0, '127.0.0.1');
await listen(TRAP_PORT, '::1');

/** An address that may be called, where nothing listens. */
const ALLOWED = '127.99.0.1';
const ADDRESSES: Record<string, readonly string[][]> = {
  'metadata.test': [['169.254.169.254']],
  'mixed.test': [[ALLOWED, '127.0.0.1']],
  'rebinding.test': [[ALLOWED], ['127.0.0.1']],
};
const asked = new Map<string, number>();
async function resolveName(name: string): Promise<string[]> {
  const count = asked.get(name) ?? 0;
  asked.set(name, count + 1);
  const answers = ADDRESSES[name.toLowerCase()] ?? [['127.0.0.1']];
  return [...(answers[count % answers.length] ?? [])];
}

const service = await instantService(t, {
  webhooks: {
    secretOf: async () => 'whsec_1',
    resolve: resolveName,
    allowNetworks: [`${ALLOWED}/32`],
  },
  assetUrl: 'https://a.test',
  workers: 2,
  queue: { maxQueued: 1e6, maxQueuedPerOwner: 1e6 },
});
/** Why the first attempt to call a job's webhook failed. */
const reasons = new Map<string, string | null>();
service.on('delivery', ({ jobId, attempts: [first] }) => {
  if (first?.endedAt) reasons.set(jobId, first.reason);
});
const callerOf = (owner: string): Caller => ({
  ...{ owner, keyId: `key of ${owner}`, keyPrefix: 'svc_live_', webhookUrl: null },
});
const authenticate = (token: string) => (token === 'ada' || token === 'bob' ? callerOf(token) : null);
const options = { service, authenticate, assetUrl: 'https://a.test' };

const hapi = createHapi({ port: 0, compression: false });
await hapi.register({ plugin: toolsApi, options });
await hapi.start();
t.teardown(() => hapi.stop({ timeout: 1000 }));
const web = createHttp(nodeHandler(webHandler(options))).listen(0);
await once(web, 'listening');
t.teardown(() => {
  web.closeAllConnections();
  web.close();
});
const DOORS = { hapi: Number(hapi.info.port), web: (web.address() as AddressInfo).port };

interface Sent {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | undefined;
}
interface Answer {
  status: number;
  text: string;
}

/** Sends a request whose path is not normalized. Of a stream it reads the beginning. */
async function send(
  port: number,
  { method, path, headers = {}, body }: Sent,
  token = 'ada',
): Promise<Answer> {
  const sent = request({
    ...{ host: '127.0.0.1', port, method, path, agent: false },
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const status = response.statusCode ?? 0;
  if (!response.headers['content-type']?.startsWith('text/event-stream'))
    return { status, text: await text(response) };
  const [chunk] = (await once(response, 'data')) as [Buffer];
  sent.on('error', () => {}).destroy();
  return { status, text: String(chunk) };
}

const bob = { ...BOBS_SCENE, owner: 'bob', keyId: 'key of bob' };
const ended = await service.wait((await service.enqueue(bob)).jobId);
const running = await service.enqueue({ ...bob, code: `linger  # ${SECRET}` });
await until(async () => (await service.get(running.jobId)).status === 'running');
const IDEMPOTENCY_KEY_OF_BOB = 'key-of-bob';
await send(DOORS.hapi, { method: 'POST', path: '/api/tools/v1/jobs', ...bobsRequest() }, 'bob');
const own = await service.wait((await service.enqueue({ code: 'x', className: 'Main', owner: 'ada' })).jobId);
const keep = (owner: string, content: string) => service.files.put({ owner, name: `${owner}.txt`, content });
const [ownFile, bobsFile] = [await keep('ada', 'x'), await keep('bob', SECRET)];
const scene = (owner: string, code: string) => service.scenes.create({ owner, name: owner, code });
const [ownScene, bobsScene] = [await scene('ada', 'x'), await scene('bob', SECRET)];
const share = (owner: string, jobId: string) =>
  service.shares.create({ owner, jobIds: [jobId], description: owner === 'bob' ? SECRET : 'ours' });
const [ownShare, bobsShare] = [await share('ada', own.jobId), await share('bob', ended.jobId)];
const assign = (owner: string, code: string) => service.assignments.create({ owner, title: owner, code });
const [ownAssignment, bobsAssignment] = [await assign('ada', 'x'), await assign('bob', SECRET)];
const { still } = await service.still('x', { className: 'Main', owner: 'ada' });

/** Valid values of the parameters in paths. */
const VALID: Record<string, string> = {
  jobId: own.jobId,
  fileId: ownFile.fileId,
  snapshotId: still?.snapshotId ?? '',
  name: 'still.png',
  sceneId: ownScene.sceneId,
  shareId: ownShare.shareId,
  assignmentId: ownAssignment.assignmentId,
  revision: '1',
  version: '1',
};
/** Fields without which a body is refused, although each of them may be left out. */
const NEEDED: Record<string, object> = {
  relabelJob: { title: 'x' },
  saveScene: { revision: 1 },
  createAssignment: { title: 'x' },
  restoreScene: { revision: 1, draft: 1 },
};
const FOREIGN = [
  ended.jobId,
  running.jobId,
  bobsFile.fileId,
  bobsScene.sceneId,
  bobsShare.shareId,
  bobsAssignment.assignmentId,
];
const TEXTS = [
  ...FOREIGN,
  ...[`${ended.jobId}/video.mp4`, `${ended.jobId}\0`, 'bob', 'key of bob', IDEMPOTENCY_KEY_OF_BOB],
  ...HOSTILE_TEXTS,
  ...hostileUrls(TRAP_PORT),
];
const OPERATIONS = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

/** A body that is valid for every route that adds jobs, under the key of another account. */
function bobsRequest(): Pick<Sent, 'headers' | 'body'> {
  return {
    headers: { 'idempotency-key': IDEMPOTENCY_KEY_OF_BOB },
    body: JSON.stringify({ code: 'x', className: 'x', title: `${SECRET} twin` }),
  };
}

/** The path with valid values, except for one parameter. */
function pathWith(path: string, name?: string, segment = ''): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, each: string) => {
    const value = each === name ? segment : VALID[each];
    if (value === undefined) throw new Error(`add a valid value of the parameter ${each} to VALID`);
    return value;
  });
}

/** An example of what a schema describes. */
function exampleOf(schema: Schema): unknown {
  const { $ref: reference, anyOf, enum: values, type, properties = {}, required = [], items } = schema;
  if (typeof reference === 'string')
    return exampleOf(components.schemas[reference.split('/').at(-1) ?? ''] ?? {});
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0] as Schema);
  if (Array.isArray(values)) return values[0];
  switch ([type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        (required as string[]).map((name) => [
          name,
          exampleOf((properties as Record<string, Schema>)[name] ?? {}),
        ]),
      );
    case 'array':
      return [exampleOf((items ?? {}) as Schema)];
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return false;
    default:
      return 'x';
  }
}

/** The example of an object with a value in each of its fields, one after the other, also in those within. */
function* bodiesWith(schema: Schema, value: unknown): Generator<unknown> {
  const { $ref: reference, properties = {}, items, anyOf = [] } = schema;
  if (typeof reference === 'string')
    return yield* bodiesWith(components.schemas[reference.split('/').at(-1) ?? ''] ?? {}, value);
  yield value;
  for (const each of anyOf as Schema[]) if (each['type'] !== 'null') yield* bodiesWith(each, value);
  if (items) for (const item of bodiesWith(items as Schema, value)) yield [item];
  for (const [name, field] of Object.entries(properties as Record<string, Schema>))
    for (const inside of bodiesWith(field, value)) yield { ...(exampleOf(schema) as object), [name]: inside };
}

/** Sends a request of another account; returns what is wrong with the answer. */
async function tried(port: number, sent: Sent): Promise<string | undefined> {
  const answer = await send(port, sent);
  const problem =
    answer.status >= 500 ? `${answer.status}` : answer.text.includes(SECRET) ? 'tells a secret' : undefined;
  const { method, path, headers, body } = sent;
  return (
    problem &&
    `${problem}: ${method} ${path.slice(0, 200)} ${JSON.stringify(headers)} ${body?.slice(0, 200)}: ${answer.text}`
  );
}

async function stateOfBob(): Promise<string> {
  const [jobs, usage, files, scenes, shares, assignments] = [
    await service.list({ owner: 'bob', limit: 500 }),
    await service.usage({ owner: 'bob' }),
    await service.files.list({ owner: 'bob' }),
    await service.scenes.list({ owner: 'bob' }),
    await service.shares.list({ owner: 'bob' }),
    await service.assignments.list({ owner: 'bob' }),
  ];
  return JSON.stringify({ jobs, usage, files, scenes, shares, assignments });
}
const before = await stateOfBob();
const bodyOf = ({ requestBody }: Operation) => requestBody?.content['application/json']?.schema;

t.test('webhooks to this machine', async (t) => {
  const urls = hostileUrls(TRAP_PORT);
  const accepted = new Map<string, string>();
  for (const webhookUrl of urls) {
    const body = JSON.stringify({ code: 'x', className: 'Main', webhookUrl });
    const answer = await send(DOORS.hapi, { method: 'POST', path: '/api/tools/v1/jobs', body });
    if (answer.status === 202) accepted.set((JSON.parse(answer.text) as { jobId: string }).jobId, webhookUrl);
    else t.equal(answer.status, 400, webhookUrl);
  }
  t.ok(accepted.size > 20, 'names and addresses are judged when they are called');
  for (const [jobId, webhookUrl] of accepted) {
    while (!reasons.has(jobId)) await once(service, 'delivery');
    t.match(reasons.get(jobId), /^(blocked|refused)$/, webhookUrl);
  }
});

/** Requests with a hostile value in one parameter. */
function* hostileRequests({ method, path, operation }: (typeof OPERATIONS)[number]): Generator<Sent> {
  const schema = bodyOf(operation);
  const body = schema && JSON.stringify(exampleOf(schema));
  for (const { name, in: place } of operation.parameters ?? []) {
    if (place === 'path')
      for (const segment of HOSTILE_SEGMENTS) yield { method, path: pathWith(path, name, segment), body };
    for (const value of TEXTS) {
      if (place === 'query' && value.isWellFormed())
        yield { method, path: `${pathWith(path)}?${name}=${encodeURIComponent(value)}`, body };
      // What a header can't have, Node does not send.
      if (place === 'header' && /^[\t -~\x80-\xff]+$/.test(value))
        yield { method, path: pathWith(path), headers: { [name]: value }, body };
    }
  }
}

/** Requests with a hostile value in one field of the body. */
function* hostileBodies({ method, path, operation }: (typeof OPERATIONS)[number]): Generator<Sent> {
  const schema = bodyOf(operation);
  if (schema)
    for (const value of [...TEXTS, null, -1, 1e308, [], {}, ['..'], { jobId: FOREIGN[0] }])
      for (const body of bodiesWith(schema, value))
        yield { method, path: pathWith(path), body: JSON.stringify(body) };
}

async function problemsOf(port: number, requests: Iterable<Sent>): Promise<string[]> {
  const problems: string[] = [];
  for (const sent of requests) {
    const problem = isChosen() ? await tried(port, sent) : undefined;
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

for (const [door, port] of Object.entries(DOORS)) {
  t.test(`${door}: jobs of another account are not found`, async (t) => {
    for (const { method, path, operation } of OPERATIONS) {
      const schema = bodyOf(operation);
      const example = schema && { ...(exampleOf(schema) as object), ...NEEDED[operation.operationId] };
      const body = example && JSON.stringify(example);
      for (const { name, in: place } of operation.parameters ?? [])
        if (place === 'path')
          for (const id of FOREIGN) {
            const { status } = await send(port, { method, path: pathWith(path, name, id), body });
            t.equal(status, 404, `${method} ${path}`);
          }
    }
  });

  t.test(`${door}: hostile parameters in paths, queries and headers`, async (t) => {
    for (const operation of OPERATIONS)
      t.strictSame(await problemsOf(port, hostileRequests(operation)), [], operation.path);
  });
}

t.test('hostile fields of bodies', async (t) => {
  for (const operation of OPERATIONS)
    t.strictSame(await problemsOf(DOORS.hapi, hostileBodies(operation)), [], operation.path);
  t.ok(combinations > 6_000, `${combinations} requests`);
});

t.test('nothing of the other account was changed, and nothing was connected to', async (t) => {
  t.equal(await stateOfBob(), before);
  t.equal(connections, 0);
  // The trap would have noticed.
  const sent = request({ host: '127.0.0.1', port: TRAP_PORT }).on('error', () => {});
  sent.end();
  await new Promise((resolve) => sent.once('close', resolve));
  t.equal(connections, 1);
});
