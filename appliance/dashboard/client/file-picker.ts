import type { Editor } from './editor.ts';
import { texts } from './texts.ts';

const SEARCHED_AFTER_MS = 200;
const PICTURE = /\.(?:png|jpe?g|gif|webp|bmp|svg)$/i;

interface OfferedFile {
  name: string;
  kind: string;
  fileId: string;
}

/** Offers the files of the account, and writes the name of the chosen one at the cursor. */
export class FilePicker {
  readonly #dialog: HTMLDialogElement;
  readonly #search: HTMLInputElement;
  readonly #list: HTMLElement;
  readonly #state: HTMLElement;
  readonly #editor: Editor;
  readonly #base: string;
  #later: ReturnType<typeof setTimeout> | undefined;
  /** The search whose answer is wanted. */
  #asked = '';

  /** `base`: the path of the playground. */
  constructor(page: HTMLElement, editor: Editor, base: string) {
    this.#dialog = page.querySelector('#file-picker') as HTMLDialogElement;
    this.#search = this.#dialog.querySelector('input') as HTMLInputElement;
    this.#list = this.#dialog.querySelector('ul') as HTMLElement;
    this.#state = this.#dialog.querySelector('[role=status]') as HTMLElement;
    this.#editor = editor;
    this.#base = base;
    const button = page.querySelector('#insert-file') as HTMLButtonElement;
    button.hidden = false;
    button.addEventListener('click', () => this.#open());
    this.#dialog.querySelector('[value=close]')?.addEventListener('click', () => this.#dialog.close());
    this.#dialog.addEventListener('close', () => this.#editor.view.focus());
    this.#search.addEventListener('input', () => {
      clearTimeout(this.#later);
      this.#later = setTimeout(() => void this.#find(), SEARCHED_AFTER_MS);
    });
    this.#search.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      this.#list.querySelector('button')?.click();
    });
  }

  #open(): void {
    this.#search.value = '';
    this.#list.replaceChildren();
    this.#dialog.showModal();
    this.#search.focus();
    void this.#find();
  }

  async #find(): Promise<void> {
    const search = this.#search.value.trim();
    this.#asked = search;
    const query = new URLSearchParams(search === '' ? {} : { search });
    const answer = await fetch(`${this.#base}/files?${query}`).catch(() => undefined);
    const found = answer?.ok && !answer.redirected ? await answer.json().catch(() => undefined) : undefined;
    if (this.#asked !== search) return;
    if (!found) {
      this.#state.textContent = texts().filesNotListed;
      return;
    }
    const { files, isAll } = found as { files: OfferedFile[]; isAll: boolean };
    this.#list.replaceChildren(...files.map((file) => this.#lineOf(file)));
    const none = search === '' ? texts().noFiles : texts().noneFound;
    this.#state.textContent = files.length === 0 ? none : isAll ? '' : texts().moreFiles;
  }

  #lineOf({ name, kind, fileId }: OfferedFile): HTMLElement {
    const line = document.createElement('li');
    const button = document.createElement('button');
    button.type = 'button';
    const icon = document.createElement('span');
    icon.className = 'icon';
    icon.ariaHidden = 'true';
    if (PICTURE.test(name)) {
      const picture = new Image(36, 36);
      picture.loading = 'lazy';
      picture.alt = '';
      picture.src = `${this.#base.replace(/playground$/, 'files')}/${fileId}/content`;
      icon.append(picture);
    } else icon.textContent = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
    const title = document.createElement('span');
    title.textContent = name;
    const of = document.createElement('span');
    of.className = 'small muted';
    of.textContent = kind;
    button.append(icon, title, of);
    button.addEventListener('click', () => {
      this.#dialog.close();
      this.#editor.insertName(name);
    });
    line.append(button);
    return line;
  }
}
