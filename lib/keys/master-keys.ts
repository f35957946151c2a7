import { ScenepressError } from '../errors.ts';
import { type MasterKey, masterKeyIdOf } from './master-key.ts';

/**
 * What secrets are sealed with and opened by: the current master key and, during a rotation and after it, the one before.
 * All who seal or open secrets of a service share one of these, so that they change to a new key in the same moment.
 */
export class MasterKeys {
  #current: MasterKey;
  #former: MasterKey | undefined;

  constructor(current: MasterKey, { former }: { former?: MasterKey | undefined } = {}) {
    this.#current = current;
    this.#former = former;
  }

  get current(): MasterKey {
    return this.#current;
  }

  get former(): MasterKey | undefined {
    return this.#former;
  }

  seal(text: string): string {
    return this.#current.seal(text);
  }

  /** Errors: `master_key` when neither of them opens it. */
  open(sealed: string): string {
    const id = masterKeyIdOf(sealed);
    const key = [this.#current, this.#former].find((key) => key?.id === id);
    return (key ?? this.#current).open(sealed);
  }

  /** The same secret, sealed with the current key; where it is already, the same text. */
  reseal(sealed: string): string {
    return masterKeyIdOf(sealed) === this.#current.id ? sealed : this.seal(this.open(sealed));
  }

  /** Seals with another key from now on; the one until now opens what it sealed, until the next change. */
  change(next: MasterKey): void {
    if (next.id === this.#current.id) {
      throw new ScenepressError('conflict', 'The new master key is the one that is in use already.');
    }
    [this.#current, this.#former] = [next, this.#current];
  }
}
