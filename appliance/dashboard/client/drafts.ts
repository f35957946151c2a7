/** The contents of the form of the playground. */
export interface Draft {
  /** The code that the server had given when it was written. */
  base: string;
  code: string;
  className: string;
  quality: string;
  aspectRatio: string;
  fps: string;
}

/** The last draft of an account in this browser. Browsers may refuse to store it. */
export class Drafts {
  readonly #key: string;

  constructor(accountId: string) {
    this.#key = `scenepress.draft.${accountId}`;
  }

  get(): Draft | undefined {
    try {
      return (JSON.parse(localStorage.getItem(this.#key) ?? 'null') as Draft | null) ?? undefined;
    } catch {
      return undefined;
    }
  }

  set(draft: Draft): void {
    try {
      localStorage.setItem(this.#key, JSON.stringify(draft));
    } catch {}
  }
}
