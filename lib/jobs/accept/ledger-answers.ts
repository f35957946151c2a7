import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { ScenepressError } from '../../base/errors.ts';
import type { Ledger, ReserveAnswer } from '../../ledger/ledger.ts';

type SettleAnswer = Awaited<ReturnType<Ledger['settle']>>;

/** The credits charged by a settle; undefined: insufficient. An invalid answer is an error, so that it is not stored. */
export function chargedOf(ledger: Ledger, answer: SettleAnswer): number | undefined {
  if (answer?.kind === 'insufficient') return undefined;
  if (answer?.kind === 'settled' && Number.isSafeInteger(answer.chargedCredits) && answer.chargedCredits >= 0)
    return answer.chargedCredits;
  return failed(
    ledger,
    'settle',
    answer,
    "{ kind: 'insufficient' }, or { kind: 'settled', chargedCredits } with a number: an integer of at least 0",
  );
}

/** The error for a balance below what is to be reserved, or charged. */
export function insufficientCredits(
  { topUpHint = 'Top up credits, then try again.' }: Ledger,
  amountCredits: number,
  answer: Exclude<ReserveAnswer, 'reserved'>,
): ScenepressError {
  const message =
    answer === 'insufficient'
      ? `This render needs a reserve of ${amountCredits === 1 ? '1 credit' : `${amountCredits} credits`}, more than the balance. ${topUpHint}`
      : answer.message;
  return new ScenepressError('insufficient_credits', message);
}

/** The available credits. An answer that is not a number is an error. */
export function availableOf(ledger: Ledger, answer: number): number {
  if (typeof answer === 'number' && !Number.isNaN(answer)) return answer;
  return failed(ledger, 'available', answer, 'a number');
}

function failed(ledger: Ledger, call: string, answer: unknown, valid: string): never {
  const name = ledger.constructor.name;
  assert.fail(`The ledger ${name} answered \`${call}\` with ${inspect(answer)}. It must answer ${valid}.`);
}
