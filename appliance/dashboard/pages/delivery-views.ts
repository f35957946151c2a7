import type { Delivery } from '../../../lib/index.ts';
import { counted } from '../format.ts';
import { type Html, html } from '../html.ts';

const LOOKS: Record<Delivery['status'], [look: string, label: string]> = {
  waiting: ['', 'Waiting'],
  sending: ['busy', 'Sending'],
  delivered: ['good', 'Delivered'],
  failed: ['bad', 'Failed'],
};

export function deliveryTag({ status }: Delivery): Html {
  const [look, label] = LOOKS[status];
  return html`<span class="tag ${look}">${label}</span>`;
}

/** `1 attempt, HTTP 204`, `2 attempts, no answer (dns)`. */
export function answerOf({ attempts, lastStatus }: Delivery): string {
  if (attempts.length === 0) return 'not sent yet';
  return `${counted(attempts.length, 'attempt')}, ${answerText(lastStatus, attempts.at(-1)?.reason ?? null)}`;
}

/** What came back from one attempt. */
export function answerText(status: number | null, reason: string | null): string {
  if (status === null) return 'under way';
  return status === 0 ? `no answer${reason === null ? '' : ` (${reason})`}` : `HTTP ${status}`;
}
