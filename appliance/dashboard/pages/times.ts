import { type Html, html } from '../html.ts';
import { texts } from '../language/texts.ts';

const WITHOUT_ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

/** A time of a form or URL in ISO 8601: without a zone, as browsers send it, it is UTC. */
export function utcTime(text: string): string {
  return WITHOUT_ZONE.test(text) ? `${text}Z` : text;
}

/** A field for a time of UTC; the script of all pages lets the reader enter it in its own zone. */
export function timeField(
  label: string,
  name: string,
  value: string | undefined,
  { required = false, hint }: { required?: boolean; hint?: string } = {},
): Html {
  return html`<label><span>${label} <span data-zone="short">${texts().common.zone}</span>${hint && html` <span class="hint">${hint}</span>`}</span><input type="datetime-local" name="${name}" value="${inputTime(value)}" step="any" ${required && 'required'}></label>`;
}

function inputTime(text: string | undefined): string | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(utcTime(text));
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, 19);
}
