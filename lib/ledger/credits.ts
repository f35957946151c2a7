import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { ScenepressError } from '../base/errors.ts';

function isCredits(amount: number): boolean {
  return Number.isSafeInteger(amount) && amount >= 0;
}

/** Error: `invalid_request`. */
export function assertGrant(owner: unknown, amountCredits: number): void {
  if (isCredits(amountCredits) && typeof owner === 'string' && owner !== '') return;
  const message = 'A grant needs an owner and a non-negative integer of credits';
  throw new ScenepressError('invalid_request', message);
}

export function assertCredits(amount: number): void {
  assert(isCredits(amount), 'credits are non-negative integers');
}

/** Deterministic, so the ledger itself detects repetitions. */
export function grantIdOf(owner: string, idempotencyKey: string): string {
  return `key-${hash('sha256', JSON.stringify([owner, idempotencyKey]))}`;
}
