import { pageOf } from './inspection.ts';
import { texts } from './texts.ts';

const placeOf = (id: string, page: Document = document) => page.getElementById(id) as HTMLElement;

/** Sends a form, as if by a button of it; undefined if the server can't be reached, which the page then says. */
export async function post(
  form: HTMLFormElement,
  url: string = form.action,
  button: HTMLButtonElement | null = null,
): Promise<Response | undefined> {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form, button)) fields.append(name, String(value));
  try {
    return await fetch(url, { method: 'POST', body: fields });
  } catch {
    showProblem(texts().away);
    return undefined;
  }
}

/** A message above the page; an empty `kind` is no error. */
export function showProblem(text: string, kind = 'bad'): void {
  const note = document.createElement('p');
  note.className = `note ${kind}`;
  note.setAttribute('role', kind === 'bad' ? 'alert' : 'status');
  note.textContent = text;
  placeOf('problem').replaceChildren(note);
}

/** Shows what another page of the playground says above its editor. True: a scene was saved elsewhere meanwhile. */
export function showTold(page: Document): boolean {
  for (const id of ['problem', 'conflict']) placeOf(id).replaceChildren(...placeOf(id, page).childNodes);
  // Its times are shown in the reader's zone.
  dispatchEvent(new Event('added'));
  const conflict = placeOf('conflict');
  if (!conflict.hasChildNodes()) return false;
  conflict.scrollIntoView({ block: 'nearest' });
  return true;
}

/** Goes to the page that a form leads to; if it was refused, shows why. */
export async function follow(
  answer: Response,
  { onLeave, onConflict }: { onLeave: () => void; onConflict: () => void },
): Promise<void> {
  const page = await pageOf(answer);
  if (page && !answer.ok) {
    if (showTold(page)) onConflict();
    return;
  }
  // Otherwise signing in leads back to this page, where the draft still is.
  const leaves = page !== undefined || new URL(answer.url).pathname.endsWith('/assignments/new');
  if (leaves) onLeave();
  location.assign(leaves ? answer.url : location.href);
}
