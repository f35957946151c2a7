import type { Delivery } from '../../../lib/index.ts';
import type { FailureReason } from '../../../lib/internal.ts';
import { counted } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { textBox } from './texts.ts';

/** What is shown of an address where there is one on the page. */
export const ADDRESS_BYTES = 10_000;

type State = Delivery['status'] | 'retried' | 'given up';

const LOOKS: Record<State, [look: string, label: string]> = {
  waiting: ['', 'Waiting'],
  retried: ['warn', 'Being retried'],
  sending: ['busy', 'Sending'],
  delivered: ['good', 'Delivered'],
  failed: ['bad', 'Failed'],
  'given up': ['bad', 'Given up'],
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
  const [look, label] = LOOKS[stateOf(delivery)];
  return html`<span class="tag ${look}">${label}</span>`;
}

/** `1 attempt, HTTP 204`, `2 attempts, no answer (dns)`. */
export function answerOf({ attempts, lastStatus }: Delivery): string {
  if (attempts.length === 0) return 'not sent yet';
  return `${counted(attempts.length, 'attempt')}, ${answerText(lastStatus, attempts.at(-1)?.reason ?? null)}`;
}

/** The response to one attempt. */
export function answerText(status: number | null, reason: string | null): string {
  if (status === null) return 'in progress';
  return status === 0 ? `no answer${reason === null ? '' : ` (${reason})`}` : `HTTP ${status}`;
}

const REASONS: Record<FailureReason, string> = {
  dns: 'The name of the host was not found.',
  blocked: 'The host is in a network that webhooks may not reach.',
  refused: 'The host refused the connection.',
  unreachable: 'The host could not be reached.',
  tls: 'The TLS handshake failed: the certificate is not trusted, or is for another name.',
  timeout: 'The exchange was not finished within 10 seconds.',
  reset: 'The connection was closed before the answer was complete.',
  protocol: 'The answer was not valid HTTP.',
  too_large: 'The answer was too long.',
  secret: 'There was no secret to sign it with.',
  stopped: 'The service was stopped during the exchange.',
  interrupted: 'The service ended during the exchange.',
};

/** Why an exchange failed, in a sentence. */
export function reasonText(reason: FailureReason): string {
  return REASONS[reason];
}

/** The answer of a receiver, or its substitute. */
export function answerBox(answer: string | null): Value {
  return answer ? textBox(answer) : html`<p class="muted">No body was received.</p>`;
}

/** The request line and headers of a webhook. */
export function requestHead(url: string, headers: Record<string, string>): string {
  const { pathname, search, host } = new URL(url);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${pathname}${search} HTTP/1.1`, ...lines].join('\n');
}
