// Which access tokens of an issuer are accepted, and how often it is asked for its keys.
import t, { type Test } from 'tap';
import { SignIn, type SignInOptions } from '../../../appliance/http/oidc/sign-in.ts';
import type { Account, Logger } from '../../../lib/index.ts';
import { silentLogger } from '../../../lib/internal.ts';
import { HttpRejection } from '../../../lib/web/index.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { signed, signedByPublicKey, signingKey, startIssuer, unsigned } from '../../fixtures/issuer.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const RESOURCE = 'https://renders.example.org/mcp';
const ADA = { aud: RESOURCE, sub: 'ada', scope: 'openid render read' };
const ACCOUNT: Account = { accountId: 'acct_1', email: 'ada@example.org', createdAtMs: 1 };

/** A verifier of an issuer's tokens, to which `ada` is linked. */
async function opened(t: Test, options: Partial<SignInOptions> = {}) {
  const issuer = await startIssuer(t);
  const clock = new FakeClock(new Date().toISOString());
  const warnings: unknown[] = [];
  const logger: Logger = { ...silentLogger, warn: (fields) => void warnings.push(fields) };
  const signIn = new SignIn({
    issuer: issuer.url,
    accounts: {
      ofIdentity: async ({ issuer: of, subject }) =>
        of === issuer.url && subject === 'ada' ? ACCOUNT : undefined,
    },
    ...{ logger, clock, ...options },
  });
  const challenge = (parameters = {}) => JSON.stringify(parameters);
  const ask = (token: string) => signIn.callerOf(token, { resource: RESOURCE, challenge });
  /** The answer that refuses a token. */
  const refusal = async (token: string) => {
    const error = await ask(token).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (error instanceof HttpRejection) return error.answer;
    throw error ?? new Error('the token was accepted');
  };
  return { issuer, clock, ask, refusal, warnings };
}

t.test('a token of the issuer for this service has the scopes that it names', async (t) => {
  const { issuer, ask } = await opened(t);
  const caller = { owner: 'acct_1', keyId: null, keyPrefix: 'access token', webhookUrl: null };
  t.same(await ask(issuer.token(ADA)), { ...caller, scopes: ['render', 'read'] });
  t.match(await ask(issuer.token({ ...ADA, aud: ['other', RESOURCE], scope: 'check' })), {
    scopes: ['check'],
  });
  t.match(await ask(issuer.token({ aud: RESOURCE, sub: 'ada', scp: ['read', 'render'] })), {
    scopes: ['render', 'read'],
  });
  t.equal(issuer.fetches(), 1, 'its keys are kept');
  t.equal(await ask('svc_live_0123'), undefined, 'an API key is none');
  t.equal(await ask(`a.${'b'.repeat(20_000)}.c`), undefined, 'nor is what is too long');
});

t.test('RSA keys are accepted, too', async (t) => {
  const { issuer, ask } = await opened(t);
  issuer.keys = [signingKey('rsa', 'RS256')];
  t.match(await ask(issuer.token(ADA)), { owner: 'acct_1' });
});

t.test('an audience that was configured is that of tokens', async (t) => {
  const { issuer, ask, refusal } = await opened(t, { audience: 'api://scenepress' });
  t.match(await ask(issuer.token({ ...ADA, aud: 'api://scenepress' })), { owner: 'acct_1' });
  t.match(await refusal(issuer.token(ADA)), { status: 401 });
});

t.test('other tokens are refused', async (t) => {
  const { issuer, ask, refusal } = await opened(t);
  const nowSeconds = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer.url, ...ADA };
  const [key = signingKey('none')] = issuer.keys;
  for (const [token, why] of [
    [issuer.token({ ...ADA, aud: 'https://renders.example.org' }), 'its aud is missing or not that'],
    [issuer.token({ ...ADA, aud: undefined }), 'its aud is missing'],
    [issuer.token({ ...ADA, iss: `${issuer.url}/` }), 'its iss is missing or not that'],
    [issuer.token({ ...ADA, sub: undefined }), 'its sub is missing'],
    [issuer.token({ ...ADA, exp: nowSeconds - 31 }), 'it has expired'],
    [issuer.token({ ...ADA, exp: undefined }), 'its exp is missing'],
    [issuer.token({ ...ADA, nbf: nowSeconds + 120 }), 'its nbf is missing or not that'],
    [unsigned(claims), 'it is not signed by a key of the issuer'],
    [signedByPublicKey(claims, key), 'it is not signed by a key of the issuer'],
    [signed(claims, signingKey(key.kid)), 'it is not signed by a key of the issuer'],
    [signed(claims, signingKey('unknown')), 'it is not signed by a key of the issuer'],
    [issuer.token(ADA).replace(/\.[\w-]+\./, '.e30.'), 'it is not signed by a key of the issuer'],
    ['a.b.c', 'it is not signed by a key of the issuer'],
  ] as const) {
    const { status, body, headers } = await refusal(token);
    t.match([status, body], [401, { error: 'Unauthorized', message: why }], why);
    t.match(JSON.parse(headers['www-authenticate'] ?? ''), { error: 'invalid_token' });
  }
  const late = issuer.token({ ...ADA, exp: nowSeconds - 20, nbf: nowSeconds + 20 });
  t.match(await ask(late), { owner: 'acct_1' }, 'clocks may differ a little');
});

t.test('a token without a scope of the service, or whose subject has no account, is forbidden', async (t) => {
  const { issuer, refusal } = await opened(t);
  for (const scope of ['openid profile', undefined, 'Render', 'renders']) {
    const { status, body, headers } = await refusal(issuer.token({ ...ADA, scope }));
    t.match([status, body], [403, { error: 'insufficient_scope', message: /render check read/ }]);
    t.same(JSON.parse(headers['www-authenticate'] ?? ''), {
      error: 'insufficient_scope',
      scope: 'render check read',
    });
  }
  const unknown = await refusal(issuer.token({ ...ADA, sub: 'eve' }));
  t.match(unknown, { status: 403, body: { error: 'Forbidden', message: /the subject "eve"/ } });
  t.same(unknown.headers, {}, 'another sign-in would not help');
});

t.test('new keys are found by their first token, and removed ones after ten minutes', async (t) => {
  const { issuer, clock, ask, refusal } = await opened(t);
  const [first = signingKey('none')] = issuer.keys;
  const ofFirst = () => signed({ iss: issuer.url, ...ADA, exp: 9_999_999_999 }, first);
  t.match(await ask(ofFirst()), { owner: 'acct_1' });
  const second = signingKey('second');
  issuer.keys = [second];
  const ofSecond = issuer.token({ ...ADA, exp: 9_999_999_999 });
  t.match(await refusal(ofSecond), { status: 401 }, 'it was asked a moment ago');
  t.equal(issuer.fetches(), 1);
  clock.advance(31_000);
  t.match(await ask(ofSecond), { owner: 'acct_1' });
  t.equal(issuer.fetches(), 2);
  const unknown = () => refusal(signed({ iss: issuer.url, ...ADA }, signingKey('unknown')));
  for (let count = 0; count < 20; count += 1) await unknown();
  t.equal(issuer.fetches(), 2, 'unknown keys do not make it ask again and again');
  clock.advance(31_000);
  await Promise.all(Array.from({ length: 20 }, unknown));
  t.equal(issuer.fetches(), 3, 'one request for all');

  issuer.keys = [first, second];
  clock.advance(31_000);
  t.match(await ask(ofFirst()), { owner: 'acct_1' });
  issuer.keys = [second];
  clock.advance(599_000);
  t.match(await ask(ofFirst()), { owner: 'acct_1' });
  clock.advance(2_000);
  t.match(await refusal(ofFirst()), { status: 401 });
});

t.test('an issuer that is down is told as such, and its keys are used for an hour', async (t) => {
  const { issuer, clock, ask, refusal, warnings } = await opened(t);
  const token = issuer.token({ ...ADA, exp: 9_999_999_999 });
  issuer.answer = (_, response) => void response.writeHead(500).end();
  t.match(await refusal(token), { status: 503, headers: { 'retry-after': '30' } });
  await refusal(token);
  t.match(warnings, [{ err: { message: /openid-configuration answers 500/ } }]);
  issuer.answer = undefined;
  clock.advance(31_000);
  t.match(await ask(token), { owner: 'acct_1' });
  issuer.answer = (_, response) => void response.destroy();
  clock.advance(3_599_000);
  t.match(await ask(token), { owner: 'acct_1' });
  clock.advance(2_000);
  t.match(await refusal(token), { status: 503 });
});

t.test('what is no issuer is not believed', async (t) => {
  for (const [discovery, why] of [
    [{ issuer: 'https://other.example.org' }, /of the issuer "https:\/\/other\.example\.org"/],
    [{ jwks_uri: undefined }, /no https:\/\/ address of its keys/],
    [{ jwks_uri: 'file:///etc/passwd' }, /no https:\/\/ address of its keys/],
    [{ jwks_uri: 7 }, /no https:\/\/ address of its keys/],
  ] as const) {
    const { issuer, refusal, warnings } = await opened(t);
    issuer.discovery = discovery;
    t.match(await refusal(issuer.token(ADA)), { status: 503 });
    t.match(warnings, [{ err: { message: why } }]);
  }
  for (const [body, why] of [
    ['<html>', /is no JSON/],
    ['7', /is no JSON object/],
    [`"${'x'.repeat(300_000)}"`, /is larger than 262144 bytes/],
  ] as const) {
    const { issuer, refusal, warnings } = await opened(t);
    issuer.answer = (_, response) => void response.end(body);
    t.match(await refusal(issuer.token(ADA)), { status: 503 });
    t.match(warnings, [{ err: { message: why } }]);
  }
  const { issuer, refusal, warnings } = await opened(t);
  issuer.answer = (_, response) => void response.writeHead(302, { location: '/elsewhere' }).end();
  t.match(await refusal(issuer.token(ADA)), { status: 503 });
  t.match(warnings, [{ err: { message: /answers 302/ } }], 'redirects are not followed');
});

t.test('an authority of the studio’s own is trusted if it was named', async (t) => {
  const authority = new TestAuthority(await temporaryFolder(t));
  const issuer = await startIssuer(t, authority.issue(['127.0.0.1']));
  const accounts = { ofIdentity: async () => ACCOUNT };
  for (const [authorities, isTrusted] of [
    [authority.ca, true],
    [undefined, false],
  ] as const) {
    const { ask, refusal } = await opened(t, { issuer: issuer.url, accounts, authorities });
    const token = issuer.token(ADA);
    if (isTrusted) t.match(await ask(token), { owner: 'acct_1' });
    else t.match(await refusal(token), { status: 503 });
  }
});
