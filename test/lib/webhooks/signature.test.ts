import { createHmac } from 'node:crypto';
import t from 'tap';
import { signWebhook, verifyWebhook } from '../../../lib/webhooks/signature.ts';

const SECRET = 'whsec_0123456789abcdef';
const BODY = '{"jobId":"1","metadata":{"name":"数学","n":1.0}}';
const now = Date.parse('2026-11-21T10:00:00.900Z');
const header = signWebhook(BODY, SECRET, { now });

t.test('the signature is computed as in the contract', async (t) => {
  const v1 = createHmac('sha256', SECRET).update(`1795255200.${BODY}`).digest('hex');
  t.equal(header, `t=1795255200,v1=${v1}`);
  t.equal(signWebhook(Buffer.from(BODY), SECRET, { now }), header);
  t.match(signWebhook(BODY, SECRET), /^t=\d{10},v1=[0-9a-f]{64}$/);
});

t.test('a signature of text or bytes is valid', async (t) => {
  const valid = { valid: true, signedAtMs: 1_795_255_200_000 } as const;
  t.strictSame(verifyWebhook(BODY, header, SECRET, { now }), valid);
  t.strictSame(verifyWebhook(Buffer.from(BODY), header, SECRET, { now }), valid);
  t.match(verifyWebhook(BODY, signWebhook(BODY, SECRET), SECRET), { valid: true });
});

t.test('the order of elements, unknown elements and spaces do not matter', async (t) => {
  const [time, v1] = header.split(',');
  const capitals = `v1=${v1?.slice(3).toUpperCase()}`;
  for (const variant of [
    `${time},${capitals}`,
    ` t = ${time?.slice(2)} , ${v1} `,
    `${v1},${time}`,
    `${time}, ${v1}`,
    `v0=x=y,${time},${v1},k`,
    `${time},${v1},tx`,
  ]) {
    t.match(verifyWebhook(BODY, variant, SECRET, { now }), { valid: true }, variant);
  }
});

t.test('the verdict names the failed check', async (t) => {
  const [time, v1] = header.split(',') as [string, string];
  const cases: [string, string | undefined | null, string][] = [
    ['missing_header', undefined, SECRET],
    ['missing_header', null, SECRET],
    ['missing_header', '', SECRET],
    ['malformed_header', 't', SECRET],
    ['malformed_header', `${time},=${v1}`, SECRET],
    ['malformed_header', time, SECRET],
    ['malformed_header', v1, SECRET],
    ['malformed_header', `t=,${v1}`, SECRET],
    ['malformed_header', `t=1e9,${v1}`, SECRET],
    ['malformed_header', `t=x1795255200,${v1}`, SECRET],
    ['malformed_header', `t=1795255200x,${v1}`, SECRET],
    ['malformed_header', `t=${'1'.repeat(16)},${v1}`, SECRET],
    ['wrong_signature', `t=${'1'.repeat(15)},${v1}`, SECRET],
    ['malformed_header', `${time},v1=0${v1.slice(3)}`, SECRET],
    ['malformed_header', `x${header}`, SECRET],
    ['malformed_header', `${time},v1=`, SECRET],
    ['malformed_header', header.slice(0, -1), SECRET],
    ['malformed_header', `${header}0`, SECRET],
    ['wrong_signature', header, 'whsec_other'],
    ['wrong_signature', `t=1795255201,${v1}`, SECRET],
    ['wrong_signature', header.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')), SECRET],
  ];
  for (const [flaw, value, secret] of cases) {
    const verdict = verifyWebhook(BODY, value, secret, { now });
    t.match(verdict, { valid: false, flaw, message: /\.$/ }, `${value}`);
    t.notMatch(JSON.stringify(verdict), SECRET);
  }
  t.match(verifyWebhook(`${BODY} `, header, SECRET, { now }), { flaw: 'wrong_signature' });
});

t.test('a signature that is too old or in the future is invalid', async (t) => {
  const at = (seconds: number) => ({ now: now + seconds * 1000 });
  for (const seconds of [300, -300])
    t.match(verifyWebhook(BODY, header, SECRET, at(seconds)), { valid: true });
  t.match(verifyWebhook(BODY, header, SECRET, at(301)), { flaw: 'outside_tolerance', message: /301 s ago/ });
  t.match(verifyWebhook(BODY, header, SECRET, at(-301)), {
    flaw: 'outside_tolerance',
    message: 'It was signed 301 s in the future; 300 s are tolerated.',
  });
  t.match(verifyWebhook(BODY, header, SECRET, { ...at(61), toleranceSeconds: 60 }), { valid: false });
  t.match(verifyWebhook(BODY, header, SECRET, { now: Number.NaN }), { valid: false });
});

t.test('an empty secret, or none, is misuse', async (t) => {
  for (const none of [undefined, null, Buffer.from(SECRET)] as unknown as string[]) {
    t.throws(() => verifyWebhook(BODY, undefined, none), TypeError, 'also without a header');
    t.throws(() => signWebhook(BODY, none), TypeError);
  }
  t.throws(() => verifyWebhook(BODY, header, ''), TypeError);
  t.throws(() => signWebhook(BODY, ''), TypeError);
});
