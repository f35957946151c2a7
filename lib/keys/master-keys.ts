import { ScenepressError } from '../errors.ts';
import { type Random, systemRandom } from '../random.ts';
import { type MasterKey, masterKeyIdOf } from './master-key.ts';

/**
 * The current master key and, during and after a rotation, the previous one. Shared by all users of a service's
 * secrets, so they all switch keys at the same time.
 */
export class MasterKeys {
  #current: MasterKey;
  #former: MasterKey | undefined;
  readonly #random: Random;

  constructor(
    current: MasterKey,
    { former, random = systemRandom }: { former?: MasterKey | undefined; random?: Random } = {},
  ) {
    this.#current = current;
    this.#former = former;
    this.#random = random;
  }

  get current(): MasterKey {
    return this.#current;
  }

  get former(): MasterKey | undefined {
    return this.#former;
  }

  seal(text: string): string {
    return this.#current.seal(text, this.#random);
  }

  /** Error: `master_key` when neither key decrypts it. */
  open(sealed: string): string {
    const id = masterKeyIdOf(sealed);
    const key = [this.#current, this.#former].find((key) => key?.id === id);
    return (key ?? this.#current).open(sealed);
  }

  /** Re-encrypts a secret with the current key; returns the same text when it already is. */
  reseal(sealed: string): string {
    return masterKeyIdOf(sealed) === this.#current.id ? sealed : this.seal(this.open(sealed));
  }

  /** Switches to another key. The previous key remains for decryption until the next change. */
  change(next: MasterKey): void {
    if (next.id === this.#current.id) {
      throw new ScenepressError('conflict', 'The new master key is already in use.');
    }
    [this.#current, this.#former] = [next, this.#current];
  }
}
