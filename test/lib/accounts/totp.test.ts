import t from 'tap';
import type { AccountStore } from '../../../lib/accounts/account-store.ts';
import { base32Of, matchingStep, stepAt, totpOf } from '../../../lib/accounts/totp.ts';
import { TwoFactor } from '../../../lib/accounts/two-factor.ts';
import { MasterKey, MasterKeys } from '../../../lib/index.ts';

const SECRET = base32Of(Buffer.from('12345678901234567890'));

t.test('codes are those of RFC 6238, appendix B', async (t) => {
  t.equal(SECRET, 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
  // The last six of eight digits.
  for (const [seconds, code] of [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ] as const) {
    const atMs = seconds * 1000;
    t.equal(totpOf(SECRET, stepAt(atMs)), code, String(seconds));
    t.equal(matchingStep(SECRET, code, { atMs }), stepAt(atMs));
  }
});

t.test('base32 is that of RFC 4648, without padding', async (t) => {
  const expected = {
    '': '',
    f: 'MY',
    fo: 'MZXQ',
    foo: 'MZXW6',
    foob: 'MZXW6YQ',
    fooba: 'MZXW6YTB',
    foobar: 'MZXW6YTBOI',
  };
  for (const [text, encoded] of Object.entries(expected)) t.equal(base32Of(Buffer.from(text)), encoded);
});

t.test('the URI of a secret names the account, whatever its address is', async (t) => {
  const masterKeys = new MasterKeys(MasterKey.random());
  const twoFactor = new TwoFactor({ store: {} as AccountStore, masterKeys });
  for (const email of [
    'ada@example.org',
    'a:b?secret=X&issuer=Y#z@example.org',
    '"><script>@x/%00',
    'ä\ud800@😀',
  ]) {
    const { uri, secret, offer } = twoFactor.offer({ accountId: 'acct_1', email, createdAtMs: 0 });
    const url = new URL(uri);
    t.equal(decodeURIComponent(url.pathname), `/Scenepress:${email.toWellFormed()}`);
    t.same(
      [...url.searchParams],
      [
        ['secret', secret],
        ['issuer', 'Scenepress'],
      ],
    );
    t.match(uri, /^otpauth:\/\/totp\/Scenepress%3A[\w%.~!*'()-]+\?secret=[A-Z2-7]{32}&issuer=Scenepress$/);
    t.equal(twoFactor.offer({ accountId: 'acct_1', email, createdAtMs: 0 }, offer).secret, secret);
  }
});
