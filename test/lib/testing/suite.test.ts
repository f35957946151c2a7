import { text } from 'node:stream/consumers';
import t from 'tap';
import type { Ledger } from '../../../lib/index.ts';
import { ledgerSuite, type SuiteOptions } from '../../../lib/testing/index.ts';
import { behaviours } from '../../../lib/testing/suite.ts';
import { watched } from '../../../lib/testing/watched-calls.ts';
import { DistantLedger } from '../../fixtures/distant-ledger.ts';

const close = async () => {};
const never = () => new Promise<never>(() => {});
const SOON = { timeoutMs: 50 };

function ledgerCase(title: string, ledger: Ledger, options?: SuiteOptions) {
  const suite = ledgerSuite(async () => ({ subject: ledger, close }), options);
  return suite.find((behaviour) => behaviour.title === title)?.run() ?? Promise.reject(new Error(title));
}

t.test('a behaviour that hangs fails with the name of the call', async (t) => {
  const ledger = new DistantLedger(100);
  ledger.void = never;
  await t.rejects(ledgerCase('gives the whole reserve back when it is voided', ledger, SOON), {
    message:
      'ledgerSuite: “gives the whole reserve back when it is voided” took longer than 50 ms. Not ended: void().',
  });
});

t.test('calls of a frozen subject, and of what they iterate over, have names', async (t) => {
  const pending = new Set<{ name: string }>();
  const subject = watched(
    Object.freeze({
      claim: never,
      each: async function* () {
        yield 'a';
      },
    }),
    pending,
  );
  t.equal(await text(subject.each()), 'a');
  t.equal(pending.size, 0);
  void subject.claim();
  t.strictSame([...pending], [{ name: 'claim' }]);
});

t.test('opening and closing count, too', async (t) => {
  const run = async (open: () => Promise<{ subject: object; close: () => Promise<void> }>) => {
    const [one] = behaviours({ name: 'suite', open, options: SOON }, { one: async () => {} });
    await one?.run();
  };
  await t.rejects(run(never), { message: /Not ended: open\(\)\.$/ });
  await t.rejects(
    run(async () => ({ subject: {}, close: never })),
    { message: /Not ended: close\(\)\.$/ },
  );
  await run(async () => ({ subject: {}, close }));
});

t.test('a subject that holds something else than its suite asks for is told', async (t) => {
  await t.rejects(ledgerCase('gives the whole reserve back when it is voided', new DistantLedger(0)), {
    message:
      'ledgerSuite: open must return a ledger in which the owner `a` has exactly 100 credits. This one has 0.',
  });
  let closed = 0;
  const count = async () => {
    closed += 1;
  };
  const open = async () => ({ subject: new DistantLedger(1), close: count });
  const suite = ledgerSuite(open);
  for (const { run } of suite) await t.rejects(run(), { message: /This one has 1.$/ });
  t.equal(closed, suite.length);
});
