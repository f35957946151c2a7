import assert from 'node:assert/strict';
import type { Balance } from './ledger.ts';
import type { Grant, GrantPart, LedgerAccount } from './ledger-store.ts';

export function sumOf(parts: GrantPart[]): number {
  return parts.reduce((sum, part) => sum + part.amountCredits, 0);
}

export function balanceOf({ grants }: LedgerAccount): Balance {
  const of = (source: Grant['source']) =>
    grants.reduce((sum, grant) => sum + (grant.source === source ? grant.remainingCredits : 0), 0);
  const [paid, free] = [of('paid'), of('free')];
  return { paid, free, total: paid + free };
}

export function partOf(grant: Grant, amountCredits: number): GrantPart {
  return { grantId: grant.grantId, source: grant.source, period: grant.period, amountCredits };
}

/** Takes an amount from free grants first, then from the oldest paid ones. The balance must cover it. */
export function partsFrom(grants: Grant[], amountCredits: number): GrantPart[] {
  const parts: GrantPart[] = [];
  let missing = amountCredits;
  for (const source of ['free', 'paid'] as const) {
    for (const grant of grants.filter((grant) => grant.source === source)) {
      const taken = Math.min(missing, grant.remainingCredits);
      if (taken === 0) continue;
      missing -= taken;
      parts.push(partOf(grant, taken));
    }
  }
  assert.equal(missing, 0, 'the balance covers what is taken');
  return parts;
}

/** The last `amountCredits` of a list of parts. */
export function tail(parts: GrantPart[], amountCredits: number): GrantPart[] {
  const result: GrantPart[] = [];
  let missing = amountCredits;
  for (const part of parts.toReversed()) {
    const taken = Math.min(missing, part.amountCredits);
    if (taken > 0) result.unshift({ ...part, amountCredits: taken });
    missing -= taken;
  }
  assert.equal(missing, 0);
  return result;
}
