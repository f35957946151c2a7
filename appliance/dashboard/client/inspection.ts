/** Shows pictures of the code, and what was found in them, without leaving the page. */
export class Inspection {
  readonly button: HTMLButtonElement;
  readonly #place: HTMLElement;
  readonly #problem: HTMLElement;
  readonly #ask: (url: string) => Promise<Response | undefined>;

  /** `ask`: sends the form to a URL; undefined if the server can't be reached. */
  constructor(
    page: HTMLElement,
    { ask, problem }: { ask: (url: string) => Promise<Response | undefined>; problem: HTMLElement },
  ) {
    this.button = page.querySelector('.toolbar [formaction]') as HTMLButtonElement;
    this.#place = page.querySelector('#inspection') as HTMLElement;
    this.#problem = problem;
    this.#ask = ask;
  }

  async ask(): Promise<void> {
    if (this.button.ariaBusy) return;
    this.button.ariaBusy = 'true';
    try {
      const answer = await this.#ask(this.button.formAction);
      const page = answer && (await pageOf(answer));
      if (answer && !page) return location.reload();
      if (!page) return;
      for (const place of [this.#problem, this.#place])
        place.replaceChildren(...(page.getElementById(place.id)?.childNodes ?? []));
      if (matchMedia('(max-width: 56rem)').matches) this.#place.scrollIntoView({ behavior: 'smooth' });
    } finally {
      this.button.ariaBusy = null;
    }
  }

  hide(): void {
    this.#place.replaceChildren();
  }
}

/** Undefined if it is another page: that of signing in, or an error. */
export async function pageOf(answer: Response): Promise<Document | undefined> {
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  return page.getElementById('playground') ? page : undefined;
}
