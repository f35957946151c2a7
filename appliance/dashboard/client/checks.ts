import type { Editor } from './editor.ts';
import { type Finding, faultOf, joined } from './findings.ts';
import type { DeclaredParam } from './params.ts';

/** After the last change: the code is read, and then run without being drawn. */
const READ_AFTER_MS = 300;
const RUN_AFTER_MS = 1_000;

type Ask = () => Promise<Response | undefined>;

/** What one of both answers has found in a code. */
interface Answer {
  code: string;
  findings: Finding[];
}

/** Asks the server what is wrong with the code, one text at a time, and shows it in the editor. */
export class Checks {
  readonly #editor: Editor;
  /** Whether the result of a render of this code is shown, which says more. */
  readonly #isShown: (code: string) => boolean;
  readonly #read: Question;
  readonly #run: Question;

  constructor(
    editor: Editor,
    parts: {
      read: Ask;
      run: Ask;
      isShown: (code: string) => boolean;
      onParams: (declared: DeclaredParam[]) => void;
    },
  ) {
    this.#editor = editor;
    this.#isShown = parts.isShown;
    const { onParams } = parts;
    const common = { textOf: () => this.#asked(), onAnswer: () => this.#show(), onParams };
    this.#read = new Question({ ...common, ask: parts.read, afterMs: READ_AFTER_MS });
    this.#run = new Question({ ...common, ask: parts.run, afterMs: RUN_AFTER_MS });
  }

  /** After each change of the code. */
  schedule(): void {
    this.#read.schedule();
    this.#run.schedule();
  }

  cancel(): void {
    this.#read.cancel();
    this.#run.cancel();
  }

  /** The code to ask about, if any. */
  #asked(): string | undefined {
    const { text } = this.#editor;
    return text.trim() === '' || this.#isShown(text) ? undefined : text;
  }

  #show(): void {
    const code = this.#asked();
    if (code === undefined) return;
    const findings = joined(this.#read.findingsOf(code), this.#run.findingsOf(code));
    this.#editor.showFaults(
      findings.map((finding) => faultOf(finding, code)),
      { isSought: false },
    );
  }
}

interface QuestionParts {
  ask: Ask;
  afterMs: number;
  textOf: () => string | undefined;
  onAnswer: () => void;
  onParams: (declared: DeclaredParam[]) => void;
}

/** One of both answers, which is asked for a while after the last change; one at a time. */
class Question {
  readonly #parts: QuestionParts;
  #later: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;
  #isWanted = false;
  #answer: Answer | undefined;

  constructor(parts: QuestionParts) {
    this.#parts = parts;
  }

  schedule(): void {
    this.cancel();
    this.#later = setTimeout(() => void this.#begin(), this.#parts.afterMs);
  }

  cancel(): void {
    clearTimeout(this.#later);
  }

  findingsOf(code: string): Finding[] {
    return this.#answer?.code === code ? this.#answer.findings : [];
  }

  async #begin(): Promise<void> {
    this.#isWanted = this.#isRunning;
    const code = this.#parts.textOf();
    if (this.#isRunning || code === undefined) return;
    this.#isRunning = true;
    const answer = await this.#parts.ask();
    const found = answer?.ok && !answer.redirected ? await answer.json().catch(() => ({})) : {};
    this.#isRunning = false;
    if (this.#isWanted) return this.#begin();
    if (!answer || this.#parts.textOf() !== code) return;
    const { findings = [], params } = found as { findings?: Finding[]; params?: DeclaredParam[] };
    this.#answer = { code, findings: findings.filter(({ line }) => line !== null) };
    if (params && (params.length > 0 || findings.length === 0)) this.#parts.onParams(params);
    this.#parts.onAnswer();
  }
}
