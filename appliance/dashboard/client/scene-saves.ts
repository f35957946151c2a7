import { filled } from './filled.ts';
import { requestIn } from './request.ts';
import { texts } from './texts.ts';

/** After the last change. */
const AFTER_MS = 1_500;
/** After a save that failed for a reason that may pass. */
const AGAIN_AFTER_MS = 10_000;
/** What browsers still send when a page is left. */
const MOST_KEPT_ALIVE_BYTES = 60_000;

/** What the page does about a save. */
interface Listener {
  /** The server has what the form has. */
  onSaved: () => void;
  /** The scene was saved elsewhere: nothing is saved until a person has chosen. */
  onConflict: () => void;
}

/**
 * Saves the form of a scene as its draft, once nothing has changed for a while. A save names the revision that the text was
 * made of, and the answer has the next one: so saves, and renders, which save too, follow each other.
 */
export class SceneSaves {
  readonly #form: HTMLFormElement;
  readonly #revision: HTMLInputElement;
  readonly #state: HTMLElement;
  readonly #url: string;
  readonly #listener: Listener;
  /** What the server has. */
  #saved: string;
  #later: ReturnType<typeof setTimeout> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isPaused = false;
  /** Whether the draft that the next save replaces stays among the drafts, though it was current for seconds only. */
  #keeps = false;

  constructor(form: HTMLFormElement, listener: Listener) {
    const scene = form.querySelector<HTMLInputElement>('input[name=scene]') as HTMLInputElement;
    this.#form = form;
    this.#revision = form.querySelector('input[name=revision]') as HTMLInputElement;
    this.#state = form.querySelector('#saved') as HTMLElement;
    this.#url = form.action.replace(/playground$/, `scenes/${scene.value}/save`);
    this.#listener = listener;
    this.#saved = requestIn(form);
    this.#state.textContent = texts().saved;
    addEventListener('online', () => void this.save());
    addEventListener('visibilitychange', () => document.hidden && void this.save());
  }

  get revision(): string {
    return this.#revision.value;
  }

  /** Continues a text that was made of a draft, unless the server has it already. */
  continue(revision: string): void {
    if (requestIn(this.#form) !== this.#saved) this.#revision.value = revision;
    this.#tell();
  }

  /** After each change of the form. */
  changed({ keeps = false }: { keeps?: boolean } = {}): void {
    this.#keeps ||= keeps;
    if (this.#isPaused || requestIn(this.#form) === this.#saved) return;
    this.#state.textContent = texts().unsaved;
    this.#schedule(AFTER_MS);
  }

  /** Saves what has changed. */
  save(): Promise<void> {
    clearTimeout(this.#later);
    return this.alone(() => this.#save());
  }

  /** Runs what reads or changes the revision, while no save is on its way. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#last.then(work);
    this.#last = run.catch(() => {});
    return run;
  }

  /** The server has saved the form as it was sent with a render: `sent` is its code, `page` what it answered. */
  rendered(page: ParentNode, sent: string): void {
    const form = page.querySelector<HTMLFormElement>('#editing');
    const revision = form?.querySelector<HTMLInputElement>('input[name=revision]')?.value;
    const code = form?.querySelector<HTMLTextAreaElement>('textarea')?.value.replaceAll('\r\n', '\n');
    // A later revision, or another code, was saved elsewhere meanwhile: the next save is refused.
    if (!form || revision === undefined || code !== sent) return;
    if (Number(revision) - Number(this.revision) > 1) return;
    this.#revision.value = revision;
    this.#saved = requestIn(form);
    this.#tell();
  }

  /** Until a person has chosen between two texts. */
  pause(): void {
    this.#isPaused = true;
    clearTimeout(this.#later);
    this.#state.textContent = texts().conflicting;
  }

  /** Sends what was not saved when the page is left, if it is short enough for that. */
  leave(): void {
    if (!this.#isPaused && requestIn(this.#form) !== this.#saved) void this.#send().catch(() => {});
  }

  #schedule(afterMs: number): void {
    clearTimeout(this.#later);
    this.#later = setTimeout(() => void this.save(), afterMs);
  }

  async #save(): Promise<void> {
    const request = requestIn(this.#form);
    if (this.#isPaused || request === this.#saved) return;
    const { saving, savedLater, signInToSave, notSaved } = texts();
    this.#state.textContent = saving;
    const answer = await this.#send().catch(() => undefined);
    if (!answer) {
      this.#state.textContent = savedLater;
      return this.#schedule(AGAIN_AFTER_MS);
    }
    // The sign-in page.
    if (answer.redirected) {
      this.#state.textContent = signInToSave;
      return this.#schedule(AGAIN_AFTER_MS);
    }
    const found = (await answer.json().catch(() => ({}))) as { revision?: number; message?: string };
    if (answer.ok && found.revision !== undefined) {
      this.#revision.value = String(found.revision);
      this.#saved = request;
      this.#keeps = false;
      return this.#tell();
    }
    if (answer.status === 409) {
      this.pause();
      return this.#listener.onConflict();
    }
    this.#state.textContent = filled(notSaved, { problem: found.message ?? answer.statusText });
    if (answer.status === 429 || answer.status >= 500) this.#schedule(AGAIN_AFTER_MS);
  }

  #send(): Promise<Response> {
    const fields = new URLSearchParams();
    for (const [name, value] of new FormData(this.#form)) fields.append(name, String(value));
    if (this.#keeps) fields.append('keeps', 'yes');
    const keepalive = fields.toString().length <= MOST_KEPT_ALIVE_BYTES;
    return fetch(this.#url, { method: 'POST', body: fields, keepalive });
  }

  #tell(): void {
    if (requestIn(this.#form) !== this.#saved) this.changed();
    else {
      this.#state.textContent = texts().saved;
      this.#listener.onSaved();
    }
  }
}
