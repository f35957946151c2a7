import { sceneClassesIn } from '../../support/scene-classes.ts';
import { texts } from './texts.ts';

const AFTER_MS = 600;
const CLASSES = /^class\s+\w+.*$/gm;

/** The field with the scene to render: the scenes of the code, as the server finds them, or else by its text. */
export class SceneChoice {
  readonly #field: HTMLSelectElement;
  readonly #code: () => string;
  readonly #ask: () => Promise<Response | undefined>;
  /** The scenes that the server has found, and the lines of classes for which it has. */
  #listed: { classes: string; names: string[] } | undefined;
  /** Whether the server is looking for scenes, and whether it is to look again. */
  #isListing = false;
  #isListedAgain = false;
  #later: ReturnType<typeof setTimeout> | undefined;

  constructor(
    field: HTMLSelectElement,
    { code, ask }: { code: () => string; ask: () => Promise<Response | undefined> },
  ) {
    this.#field = field;
    this.#code = code;
    this.#ask = ask;
  }

  /** After a change of the code: asks the server once the lines of its classes have changed. */
  changed(): void {
    if (classesOf(this.#code()) === this.#listed?.classes) return;
    clearTimeout(this.#later);
    this.#later = setTimeout(() => void this.list(), AFTER_MS);
  }

  /** Offers the scenes of the code: as the server found them while the lines of its classes are the same. */
  update(): void {
    const code = this.#code();
    this.offer(this.#listed?.classes === classesOf(code) ? this.#listed.names : sceneClassesIn(code));
  }

  /** Takes over what the server has found in a code. */
  found(code: string, names: string[]): void {
    this.#listed = { classes: classesOf(code), names };
    this.update();
  }

  /** Asks the server, which runs the code of an account one at a time, once its classes have changed. */
  async list(): Promise<void> {
    const code = this.#code();
    const classes = classesOf(code);
    this.update();
    if (code.trim() === '') return;
    this.#isListedAgain = this.#isListing;
    if (this.#isListing) return;
    this.#isListing = true;
    const answer = await this.#ask();
    const found = answer?.ok && !answer.redirected ? await answer.json().catch(() => ({})) : {};
    const { scenes } = found as { scenes?: string[] };
    this.#isListing = false;
    if (this.#isListedAgain) return this.list();
    // Without scenes, such as after a syntax error, the next change asks again.
    if (!answer || classesOf(this.#code()) !== classes) return;
    this.#listed = scenes && { classes, names: scenes };
    this.update();
  }

  /** Offers scenes; keeps the choice, also if it was renamed. */
  offer(scenes: string[]): void {
    const names = scenes.filter((name) => name !== '');
    const options = names.length > 0 ? names : [''];
    const before = [...this.#field.options].map(({ value }) => value);
    const [added, ...others] = options.filter((name) => !before.includes(name));
    const renamed = others.length === 0 ? added : undefined;
    const { value } = this.#field;
    const chosen = options.includes(value) ? value : (renamed ?? options[0] ?? '');
    if (options.join() !== before.join()) {
      this.#field.replaceChildren(...options.map((name) => new Option(name || texts().onlyScene, name)));
    }
    this.#field.value = chosen;
  }
}

function classesOf(code: string): string {
  return (code.match(CLASSES) ?? []).join('\n');
}
