/** The contents of the form of the playground, and which of them exist here only. */
export interface Draft {
  /** The code that the server gave, or that was rendered last. */
  base: string;
  code: string;
  className: string;
  quality: string;
  aspectRatio: string;
  fps: string;
  /** Values of parameters, as JSON; absent in drafts of earlier versions. */
  params?: string;
  /** Of the draft of a scene that it was made of; absent without a scene. */
  revision?: string;
  /** The query of the page that shows its result. */
  query: string;
  savedAtMs: number;
}

/** More than a person keeps in mind; a draft has up to 200 KB, and browsers store 5 MB. */
const MOST_DRAFTS = 10;

/**
 * The drafts of an account in this browser. Each entry of a tab's history has one, so that neither another tab nor an
 * example that is opened replaces it; a reload and the back button find it again. Browsers may refuse to store them.
 */
export class Drafts {
  readonly #prefix: string;
  #id = String((history.state as { draft?: string } | null)?.draft ?? '');

  /** `sceneId`: what was not saved of a scene, apart from other drafts. */
  constructor(accountId: string, sceneId?: string) {
    const kind = sceneId === undefined ? 'draft' : `scene.${sceneId}`;
    this.#prefix = `scenepress.${kind}.${accountId}.`;
  }

  /** The draft of this entry of the history. */
  own(): Draft | undefined {
    return this.#read(this.#id);
  }

  /** For a new entry: the last of this tab, else of this browser. */
  last(): Draft | undefined {
    const ofTab = stored(() => sessionStorage.getItem(this.#prefix)) ?? '';
    const draft = this.#read(ofTab);
    if (draft) this.#begin(ofTab);
    return draft ?? this.#all()[0]?.[1];
  }

  /** What was not rendered, newest first, without that of this entry. */
  unrendered(): Draft[] {
    return this.#all()
      .filter(([id, { code, base }]) => id !== this.#id && code !== base)
      .map(([, draft]) => draft);
  }

  /** A draft of its own for this entry, or for a new one with an address. */
  begin(url?: string): void {
    this.#begin(`${Date.now()}.${Math.random()}`, url);
  }

  save(draft: Omit<Draft, 'savedAtMs'>): void {
    if (this.#id === '') this.begin();
    const text = JSON.stringify({ ...draft, savedAtMs: Date.now() });
    // Rendered ones first: their code is kept with their jobs.
    const others = this.#all()
      .filter(([id]) => id !== this.#id)
      .sort(([, a], [, b]) => Number(a.code === a.base) - Number(b.code === b.base));
    for (const [id] of others.splice(MOST_DRAFTS - 1)) localStorage.removeItem(this.#prefix + id);
    while (!this.#write(text)) {
      const [id] = others.pop() ?? [];
      if (id === undefined) return;
      localStorage.removeItem(this.#prefix + id);
    }
  }

  /** Forgets that of this entry, which the server has. */
  forget(): void {
    stored(() => {
      localStorage.removeItem(this.#prefix + this.#id);
      return true;
    });
  }

  /** Forgets those of other entries with this code, which the server has. */
  forgetEqual(code: string): void {
    for (const [id, draft] of this.#all())
      if (id !== this.#id && draft.code === code) localStorage.removeItem(this.#prefix + id);
  }

  #begin(id: string, url?: string): void {
    this.#id = id;
    if (url === undefined) history.replaceState({ draft: id }, '');
    else history.pushState({ draft: id }, '', url);
  }

  #write(text: string): boolean {
    const isWritten = stored(() => {
      localStorage.setItem(this.#prefix + this.#id, text);
      sessionStorage.setItem(this.#prefix, this.#id);
      return true;
    });
    return isWritten ?? false;
  }

  #read(id: string): Draft | undefined {
    return stored(() => JSON.parse(localStorage.getItem(this.#prefix + id) ?? 'null') as Draft | null);
  }

  /** Newest first. */
  #all(): [id: string, Draft][] {
    const ids = stored(() => Object.keys(localStorage).filter((key) => key.startsWith(this.#prefix))) ?? [];
    return ids
      .map((key) => key.slice(this.#prefix.length))
      .flatMap((id): [string, Draft][] => {
        const draft = this.#read(id);
        return draft ? [[id, draft]] : [];
      })
      .sort(([, a], [, b]) => b.savedAtMs - a.savedAtMs);
  }
}

/** When a draft was saved, in the page's language as it is written in the reader's region. */
export function timeOf({ savedAtMs }: Draft): string {
  const { lang } = document.documentElement;
  const locales = [...navigator.languages.filter((one) => one.split('-')[0] === lang), lang];
  return new Date(savedAtMs).toLocaleString(locales, { dateStyle: 'medium', timeStyle: 'short' });
}

/** Undefined if the browser refuses. */
function stored<T>(access: () => T | null): T | undefined {
  try {
    return access() ?? undefined;
  } catch {
    return undefined;
  }
}
