import Joi from 'joi';
import type { Balance, Quality } from '../../../lib/index.ts';
import { type AuditReport, QUALITY_NAMES } from '../../../lib/internal.ts';
import type { DaySpending, Prices, StatementLine } from '../../admin/administration-views.ts';
import { count, list, number, object, oneOf, text, time } from './parts.ts';

export const balance: Joi.ObjectSchema = object<Balance>({
  paid: number.description('Purchased credits.'),
  free: number.description("The rest of the current month's free credits."),
  total: number,
});

export const statementLine: Joi.ObjectSchema = object<StatementLine>({
  entryId: text,
  at: time,
  kind: oneOf<StatementLine['kind']>({
    grant: true,
    expiry: true,
    reserve: true,
    settle: true,
    void: true,
  }),
  amountCredits: number.description('Change of the balance.'),
  chargedCredits: number.description('The cost of a render that is charged; 0 otherwise.'),
  jobId: text.allow(null),
  note: text.allow(null),
});

export const daySpending: Joi.ObjectSchema = object<DaySpending>({
  day: text.description('The day (UTC), as `2026-11-23`.'),
  chargedCredits: number,
  renders: count.description('The number of charged renders.'),
});

const ofQualities = QUALITY_NAMES.map((name: Quality) => [name, number.required()]);
export const prices: Joi.ObjectSchema = object<Prices>({
  creditsPerSecond: Joi.object(Object.fromEntries(ofQualities)).description('By quality.'),
  reserveSeconds: number.description('The price of so many seconds is reserved for each render.'),
  freeCreditsPerMonth: number,
})
  .allow(null)
  .description('Null where renders cost nothing.');

export const audit: Joi.ObjectSchema = object<AuditReport>({
  accounts: count.description('Number of accounts that were checked.'),
  entries: count.description('Number of entries that were checked.'),
  jobs: count.description('Number of jobs that were checked.'),
  problems: list(text).description('One sentence each; empty if the books are in order.'),
});
