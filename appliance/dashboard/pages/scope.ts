import { type Html, html } from '../html.ts';
import { BASE, type Visit } from '../route.ts';

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
  const accounts = await admin.accounts.list();
  if (accounts.length < 2) return undefined;
  const options = accounts.slice(0, 100).map(({ email }) => html`<option value="${email}"></option>`);
  return html`<form method="get" action="${BASE}${path}" class="actions">
<label class="visually-hidden" for="account">Account</label>
<input id="account" name="account" list="accounts" value="${accountOf(visit)}" size="26" autocomplete="off">
<datalist id="accounts">${options}</datalist><button>Show</button></form>`;
}
