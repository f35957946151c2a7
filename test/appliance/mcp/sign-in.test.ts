// MCP over HTTP for clients that sign in with an identity provider.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadConfig } from '../../../appliance/config/config.ts';
import { examineIssuer } from '../../../appliance/doctor/issuer.ts';
import { startIssuer } from '../../fixtures/issuer.ts';
import { scenepress } from '../command.ts';
import { listeningAppliance } from '../listening-appliance.ts';
import { httpClient, SCENE, textOf } from './clients.ts';

const PYTHON = join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python');
const POST = {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }),
};

/** An appliance with an issuer, and a token of its `ada`. */
async function signedIn(t: Test) {
  const issuer = await startIssuer(t);
  const appliance = await listeningAppliance(t, {
    python: PYTHON,
    insecureNoSandbox: true,
    oidcIssuer: issuer.url,
  });
  const resource = `${appliance.url}/mcp`;
  const { accounts } = appliance.installation.administration;
  const link = (subject: string | null, account = 'ada@example.org') =>
    accounts.setIdentity({ account, identity: subject === null ? null : { issuer: issuer.url, subject } });
  const token = (claims: Record<string, unknown> = {}) =>
    issuer.token({ aud: resource, sub: 'ada', scope: 'render check read', ...claims });
  return { ...appliance, issuer, resource, accounts, link, token };
}

t.test('metadata leads a client to the issuer, and its token renders', async (t) => {
  const { url, ask, askAs, key, issuer, resource, link, token, service, log } = await signedIn(t);
  const metadata = `${url}/.well-known/oauth-protected-resource/mcp`;
  for (const authorization of [undefined, 'Bearer svc_live_0', 'Basic YTpi', 'Bearer a.b']) {
    const headers = { ...POST.headers, ...(authorization !== undefined && { authorization }) };
    const refused = await ask('/mcp', { ...POST, headers });
    t.match(refused, { status: 401, json: { error: 'Unauthorized' } });
    t.equal(refused.headers['www-authenticate'], `Bearer resource_metadata="${metadata}"`);
  }
  for (const path of ['', '/mcp']) {
    const told = await ask(`/.well-known/oauth-protected-resource${path}`, {
      headers: { origin: 'https://client.example' },
    });
    t.match(told, { status: 200, headers: { 'access-control-allow-origin': 'https://client.example' } });
    t.same(told.json, {
      ...{ resource, resource_name: 'Scenepress', authorization_servers: [issuer.url] },
      ...{ scopes_supported: ['render', 'check', 'read'], bearer_methods_supported: ['header'] },
    });
  }
  const { accountId } = await link('ada').then(({ userId }) => ({ accountId: userId }));
  const client = await httpClient(t, resource, { headers: { authorization: `Bearer ${token()}` } });
  const made = await client.callTool({ name: 'render', arguments: { code: SCENE, className: 'Hello' } });
  t.match(textOf(made), /^Hello was rendered in/);
  const { jobId } = made.structuredContent as { jobId: string };
  t.match(await service.get(jobId), { owner: accountId, keyId: null });
  const ofKey = await httpClient(t, resource, { headers: { authorization: `Bearer ${key}` } });
  t.equal((await ofKey.listTools()).tools.length, 6, 'keys work as before');
  t.notMatch(log(), token().slice(0, 40));
  const elsewhere = await askAs(token(), '/api/v2/me');
  t.match(elsewhere, { status: 401, headers: { 'www-authenticate': 'Bearer' } }, 'of MCP only');
});

t.test('a token has the tools of its scopes', async (t) => {
  const { askAs, resource, link, token } = await signedIn(t);
  await link('ada');
  const headers = { authorization: `Bearer ${token({ scope: 'check' })}` };
  const { tools } = await (await httpClient(t, resource, { headers })).listTools();
  t.same(
    tools.map(({ name }) => name),
    ['guide', 'check', 'inspect'],
  );
  const none = await askAs(token({ scope: 'openid' }), '/mcp', POST);
  t.match(none, { status: 403, json: { error: 'insufficient_scope' } });
  t.match(
    none.headers['www-authenticate'],
    /^Bearer error="insufficient_scope", scope="render check read", resource_metadata="http/,
  );
  const wrong = await askAs(token({ aud: 'https://other.example.org/mcp' }), '/mcp', POST);
  t.match(wrong, { status: 401, json: { message: /its aud is missing or not that of this service/ } });
  t.match(
    wrong.headers['www-authenticate'],
    /^Bearer error="invalid_token", error_description="The access token is not valid: .*", resource_metadata="/,
  );
});

t.test('a subject acts for the account that it is linked to, from then on', async (t) => {
  const { askAs, issuer, accounts, link, token, dataDir, newKey, log } = await signedIn(t);
  const status = async () => (await askAs(token(), '/mcp', POST)).status;
  const unknown = await askAs(token(), '/mcp', POST);
  t.match(unknown, { status: 403, json: { message: /linked to the subject "ada" of this issuer/ } });
  t.equal(unknown.headers['www-authenticate'], undefined);
  t.match(log(), /"subject":"ada".*No account is linked to the subject/);
  const cli = (...args: string[]) => scenepress(['account', ...args, '--data-dir', dataDir]);
  const account = 'ada@example.org';
  const linked = await cli('link', account, '--subject', 'ada', '--issuer', issuer.url);
  t.match(linked, {
    code: 0,
    stdout: `Access tokens of ${issuer.url} for ada act for account ${account}.\n`,
  });
  t.equal(await status(), 200);
  await newKey('eve@example.org');
  await t.rejects(link('ada', 'eve@example.org'), { code: 'conflict', message: /Another account is linked/ });
  await link('someone else');
  t.equal(await status(), 403);
  await link('ada');
  await accounts.disable({ account });
  t.equal(await status(), 403);
  await accounts.enable({ account });
  t.equal(await status(), 200);
  t.match(JSON.parse((await cli('unlink', account, '--json')).stdout), { email: account, identity: null });
  t.equal(await status(), 403);
  t.match(await cli('link', account, '--subject', 'ada'), { code: 2, stderr: /SCENEPRESS_OIDC_ISSUER/ });
  for (const subject of ['', ' ada', 'a\nb', 'x'.repeat(256)])
    await t.rejects(link(subject), { code: 'invalid_request', message: /1 to 255 characters/ });
  await link('ada');
  await accounts.delete({ account });
  t.equal(await status(), 403);
  await link('ada', 'eve@example.org');
  t.equal(await status(), 200, 'a deleted account gives its subject back');
});

t.test('while the issuer is down, keys work', async (t) => {
  const { key, askAs, issuer, link, token } = await signedIn(t);
  await link('ada');
  issuer.answer = (_, response) => void response.writeHead(502).end();
  const refused = await askAs(token(), '/mcp', POST);
  t.match(refused, { status: 503, headers: { 'retry-after': '30' }, json: { message: /use an API key/ } });
  t.match(await askAs(key, '/mcp', POST), { status: 200 });
});

t.test('the doctor says whether the issuer can be asked', async (t) => {
  const issuer = await startIssuer(t);
  const examined = (flags: Record<string, unknown>) =>
    examineIssuer(loadConfig({ flags: { oidcIssuer: issuer.url, ...flags }, env: {} }));
  t.equal(await examineIssuer(loadConfig({ flags: {}, env: {} })), undefined);
  t.match(await examined({}), { status: 'warning', remedy: /--public-url/ });
  t.match(await examined({ publicUrl: 'https://renders.example.org/' }), {
    status: 'ok',
    message: `tokens of ${issuer.url} are accepted for https://renders.example.org/mcp`,
  });
  t.match(await examined({ oidcAudience: 'api://scenepress' }), { status: 'ok', message: /for api:\/\/sc/ });
  issuer.keys = [];
  t.match(await examined({}), { status: 'failed', message: /has no keys/ });
  issuer.answer = (_, response) => void response.writeHead(404).end();
  t.match(await examined({}), { status: 'failed', message: /answers 404/, remedy: /--oidc-ca/ });
});

t.test('what belongs to an issuer needs one', async (t) => {
  const problems = (flags: Record<string, unknown>) => () => loadConfig({ flags, env: {} });
  t.throws(problems({ oidcAudience: 'a' }), { message: /set --oidc-issuer/ });
  for (const oidcIssuer of [
    'id.example.org',
    'ftp://id.example.org',
    'https://a:b@id.example.org',
    'https://a/?b',
  ])
    t.throws(problems({ oidcIssuer }), { message: /oidc-issuer|oidcIssuer/ }, oidcIssuer);
  const issuer = 'https://id.example.org/';
  t.equal(loadConfig({ flags: { oidcIssuer: issuer }, env: {} }).oidcIssuer, issuer, 'as it is given');
});
