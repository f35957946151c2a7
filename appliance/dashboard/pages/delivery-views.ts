import type { Delivery } from '../../../lib/index.ts';
import type { FailureReason } from '../../../lib/internal.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { textBox } from './texts.ts';

/** What is shown of an address where there is one on the page. */
export const ADDRESS_BYTES = 10_000;

type State = Delivery['status'] | 'retried' | 'given up';

const LOOKS: Record<State, string> = {
  waiting: '',
  retried: 'warn',
  sending: 'busy',
  delivered: 'good',
  failed: 'bad',
  'given up': 'bad',
};

/** Whether further attempts are to come. */
export function isPending({ status }: Pick<Delivery, 'status'>): boolean {
  return status === 'waiting' || status === 'sending';
}

function stateOf({ status, attempts }: Delivery): State {
  if (status === 'waiting' && attempts.length > 0) return 'retried';
  return status === 'failed' && attempts.length === 0 ? 'given up' : status;
}

export function deliveryTag(delivery: Delivery): Html {
  const state = stateOf(delivery);
  return html`<span class="tag ${LOOKS[state]}">${texts().webhooks.states[state]}</span>`;
}

/** `1 attempt, HTTP 204`, `2 attempts, no answer (dns)`. */
export function answerOf({ attempts, lastStatus }: Delivery): string {
  const { webhooks: t, counts } = texts();
  if (attempts.length === 0) return t.notSentYet;
  const answer = answerText(lastStatus, attempts.at(-1)?.reason ?? null);
  return t.attemptsAnswer(counts.attempts(attempts.length), answer);
}

/** The response to one attempt. */
export function answerText(status: number | null, reason: string | null): string {
  const { webhooks: t, common } = texts();
  if (status === null) return common.inProgress;
  if (status !== 0) return `HTTP ${status}`;
  return reason === null ? t.noAnswer : t.noAnswerWhy(reason);
}

/** Why an exchange failed, in a sentence. */
export function reasonText(reason: FailureReason): string {
  return texts().webhooks.reasons[reason];
}

/** The answer of a receiver, or its substitute. */
export function answerBox(answer: string | null): Value {
  return answer ? textBox(answer) : html`<p class="muted">${texts().webhooks.noBody}</p>`;
}

/** The request line and headers of a webhook. */
export function requestHead(url: string, headers: Record<string, string>): string {
  const { pathname, search, host } = new URL(url);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${pathname}${search} HTTP/1.1`, ...lines].join('\n');
}
