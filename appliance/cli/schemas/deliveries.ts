import Joi from 'joi';
import type { Delivery } from '../../../lib/index.ts';
import type { DeliveryDetails, FailureReason, SentAgain, WebhookTest } from '../../../lib/internal.ts';
import { count, list, number, object, oneOf, orNull, record, text, time, yes } from './parts.ts';

const REASONS: Record<FailureReason, true> = {
  ...{ dns: true, blocked: true, refused: true, unreachable: true, tls: true, timeout: true, reset: true },
  ...{ protocol: true, too_large: true, secret: true, stopped: true, interrupted: true },
};

const ofAnswer = {
  status: count.description('The HTTP code of the response; 0: none.'),
  reason: orNull(oneOf(REASONS)).description('Why it failed; null: it did not, or has not ended.'),
  detail: text
    .allow(null)
    .description('For the operator only: it may reveal details of the internal network.'),
};
const ofAttempt = { startedAt: time, endedAt: time.allow(null), ...ofAnswer };
const answer = text.allow(null).description('The first 1 KB of the response; null without one.');

const ofDelivery = {
  deliveryId: text,
  jobId: text.description('The job whose outcome it sends.'),
  owner: text.description('The user id of the account of the job.'),
  keyId: text.allow(null).description('The API key whose secret signs it.'),
  event: oneOf<Delivery['event']>({ completed: true, failed: true }).description('The outcome of the job.'),
  url: text.description('Where it is sent.'),
  status: oneOf<Delivery['status']>({ waiting: true, sending: true, delivered: true, failed: true }),
  lastStatus: count
    .allow(null)
    .description('The HTTP code of the last ended attempt, 0 without one; null before the first.'),
  attempts: list(object<Delivery['attempts'][number]>(ofAttempt)).description('Oldest first.'),
  nextAttemptAt: time.allow(null).description('Null during an attempt, and when no more will follow.'),
  repeats: text.allow(null).description('The delivery that it sends again; null: none.'),
  createdAt: time,
};

export const delivery: Joi.ObjectSchema = object<Delivery>(ofDelivery);

export const deliveryDetails: Joi.ObjectSchema = object<DeliveryDetails>({
  ...ofDelivery,
  body: text.description('The body of the request.'),
  attempts: list(
    object<DeliveryDetails['attempts'][number]>({
      ...ofAttempt,
      signature: text.allow(null).description('The header `svc-signature`; null when nothing was sent.'),
      answer,
    }),
  ).description('Oldest first.'),
});

export const sentAgain: Joi.ObjectSchema = object<SentAgain>({
  sent: count.description('The number of new deliveries.'),
  isComplete: yes.description('False when there may be more: repeat the command for the rest.'),
});

type Verification = WebhookTest['verification'];
type Genuine = Extract<Verification['verdict'], { valid: true }>;
type Flawed = Extract<Verification['verdict'], { valid: false }>;

export const webhookTest: Joi.ObjectSchema = object<WebhookTest>({
  url: text,
  headers: record(text).description('The headers of the request.'),
  body: text.description('The body of the request.'),
  verification: object<Verification>({
    timestamp: text.description('The member `t` of `svc-signature`.'),
    signature: text.description('The member `v1` of `svc-signature`.'),
    computed: text.description('The HMAC-SHA256 of `<t>.<body>` with the secret, in hexadecimal.'),
    verdict: Joi.alternatives(
      object<Genuine>({ valid: Joi.valid(true), signedAtMs: number.description('In epoch milliseconds.') }),
      object<Flawed>({
        valid: Joi.valid(false),
        flaw: oneOf<Flawed['flaw']>({
          ...{ missing_header: true, malformed_header: true },
          ...{ wrong_signature: true, outside_tolerance: true },
        }),
        message: text,
      }),
    ),
  }).description('What a receiver computes.'),
  ...ofAnswer,
  answer,
  tookMs: number.description('Milliseconds until the answer or the failure.'),
});
