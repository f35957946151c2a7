import { isScenepressError } from '../../../lib/internal.ts';
import type { KeyInfo } from '../../admin/administration-views.ts';
import { type Html, html } from '../html.ts';
import { texts } from '../language/texts.ts';
import { BASE, type Visit } from '../route.ts';

/** Accounts or keys that a page offers for a choice. */
const OFFERED = 100;

/** The account of a page: administrators may name another than their own. */
export function accountOf({ query, viewer }: Visit): string {
  return (viewer.role === 'admin' && query['account']) || viewer.email;
}

/** The query of links that stay with the account. */
export function accountQuery(visit: Visit): string {
  const account = accountOf(visit);
  return account === visit.viewer.email ? '' : `?account=${encodeURIComponent(account)}`;
}

/** For administrators, a field that chooses the account. */
export async function accountPicker(visit: Visit, path: string): Promise<Html | undefined> {
  const { admin, viewer } = visit;
  if (viewer.role !== 'admin') return undefined;
  const { accounts } = await admin.accounts.list({ limit: OFFERED });
  if (accounts.length < 2) return undefined;
  const options = accounts.map(({ email }) => html`<option value="${email}"></option>`);
  return html`<form method="get" action="${BASE}${path}" class="actions">
<label class="visually-hidden" for="account">${texts().common.account}</label>
<input id="account" name="account" list="accounts" value="${accountOf(visit)}" size="26" autocomplete="off">
<datalist id="accounts">${options}</datalist><button>${texts().common.show}</button></form>`;
}

/** Keys of the page's account to choose from: the oldest, and the one that a request names. */
export async function keysToChoose(
  visit: Visit,
  { live = false, named }: { live?: boolean; named?: string | undefined } = {},
): Promise<KeyInfo[]> {
  const { keys } = await visit.admin.keys.list({ account: accountOf(visit), live, limit: OFFERED });
  if (!named || keys.some(({ keyId }) => keyId === named)) return keys;
  const key = await visit.admin.keys.show({ keyId: named }).catch((error: unknown) => {
    if (!isScenepressError(error, 'not_found')) throw error;
  });
  return key && !(live && key.state !== 'live') ? [...keys, key] : keys;
}
