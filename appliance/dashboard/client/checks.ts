import type { Editor } from './editor.ts';
import { type Finding, faultOf } from './findings.ts';

/** After the last change. */
const AFTER_MS = 1_000;

/** Asks the server what is wrong with the code, one text at a time, and shows it in the editor. */
export class Checks {
  readonly #editor: Editor;
  readonly #ask: () => Promise<Response | undefined>;
  /** Whether the result of a render of this code is shown, which says more. */
  readonly #isShown: (code: string) => boolean;
  #later: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;
  #isWanted = false;

  constructor(
    editor: Editor,
    parts: { ask: () => Promise<Response | undefined>; isShown: (code: string) => boolean },
  ) {
    this.#editor = editor;
    this.#ask = parts.ask;
    this.#isShown = parts.isShown;
  }

  /** After each change of the code. */
  schedule(): void {
    this.cancel();
    this.#later = setTimeout(() => void this.#check(), AFTER_MS);
  }

  cancel(): void {
    clearTimeout(this.#later);
  }

  async #check(): Promise<void> {
    this.#isWanted = this.#isRunning;
    const code = this.#editor.text;
    if (this.#isRunning || code.trim() === '' || this.#isShown(code)) return;
    this.#isRunning = true;
    const answer = await this.#ask();
    const found = answer?.ok && !answer.redirected ? await answer.json().catch(() => ({})) : {};
    this.#isRunning = false;
    if (this.#isWanted) return this.#check();
    if (!answer || this.#editor.text !== code || this.#isShown(code)) return;
    const { findings = [] } = found as { findings?: Finding[] };
    const finding = findings.find(({ line }) => line !== null);
    this.#editor.showFault(finding && faultOf(finding, code), { isSought: false });
  }
}
