import { EventEmitter, once } from 'node:events';

/**
 * The state of the machine's TeX: `complete`; `incomplete` while packages are to be installed or downloaded; `changing`
 * while they are unpacked and configured, so that what TeX makes of a document may be wrong. @internal
 */
export type TexState = 'complete' | 'incomplete' | 'changing';

/** What the author of a scene reads who needs a package that is to be installed. */
const NOT_YET = 'This service is still installing TeX packages; render it again in some minutes.';
/** Errors of TeX for lack of a file, a font or a program, as `tex/errors.py` writes them. */
const LACKING = /isn't (?:installed here|there)|can't be converted to curves|not found/;

/** The TeX of the machine, whose packages are installed while a service renders. Told by its embedder. @internal */
export class TexInstallation extends EventEmitter<{ change: [] }> {
  #state: TexState = 'complete';
  #changes = 0;

  get state(): TexState {
    return this.#state;
  }

  /** Grows with each time it begins to change. */
  get changes(): number {
    return this.#changes;
  }

  enter(state: TexState): void {
    if (state === this.#state) return;
    this.#state = state;
    if (state === 'changing') this.#changes += 1;
    this.emit('change');
  }

  /** Whether a failure of TeX, in a render that began after so many changes, may be due to a change. */
  mayHaveFailed(changesBefore: number): boolean {
    return this.#state === 'changing' || this.#changes > changesBefore;
  }

  /** Resolves when it does not change, or `signal` is aborted. */
  async settled(signal: AbortSignal): Promise<void> {
    while (this.#state === 'changing' && !signal.aborted)
      await once(this, 'change', { signal }).catch(() => {});
  }

  /** An error of TeX for the scene's author: that a package may be on its way. */
  explained(error: string): string {
    return this.#state === 'incomplete' && LACKING.test(error) ? `${error}\n${NOT_YET}` : error;
  }
}
