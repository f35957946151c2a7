import { ScenepressError } from '../base/errors.ts';
import { known } from '../base/known-options.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { type MasterKey, masterKeyIdOf } from './master-key.ts';

const NOT_GIVEN =
  'Secrets of webhooks are encrypted with the master key, which this process was not given: set SCENEPRESS_MASTER_KEY ' +
  'or SCENEPRESS_MASTER_KEY_FILE, to the key of the other machines.';

/**
 * The current master key and, during and after a rotation, the previous one. Shared by all users of a service's
 * secrets, so they all switch keys at the same time. `current` is null in a process that was given no key, which has
 * no use for secrets: its methods throw `master_key`.
 *
 * ```ts
 * const masterKeys = new MasterKeys(MasterKey.fromHex(process.env['MASTER_KEY'] ?? ''));
 * const keys = new ApiKeys({ store, masterKeys });
 * ```
 */
export class MasterKeys {
  #current: MasterKey | null;
  #former: MasterKey | undefined;
  readonly #random: Random;

  constructor(current: MasterKey | null, options: { former?: MasterKey | undefined; random?: Random } = {}) {
    const { former, random = systemRandom } = known('MasterKeys', options, { former: true, random: true });
    this.#current = current;
    this.#former = former;
    this.#random = random;
  }

  /** Error: `master_key` when none was given. */
  get current(): MasterKey {
    if (this.#current === null) throw new ScenepressError('master_key', NOT_GIVEN);
    return this.#current;
  }

  /** The one before; undefined outside of a replacement. */
  get former(): MasterKey | undefined {
    return this.#former;
  }

  /** Encrypts with the current key. Error: `master_key` when none was given. */
  seal(text: string): string {
    return this.current.seal(text, this.#random);
  }

  /** Error: `master_key` when neither key decrypts it. */
  decrypt(sealed: string): string {
    const id = masterKeyIdOf(sealed);
    const key = [this.current, this.#former].find((key) => key?.id === id);
    return (key ?? this.current).decrypt(sealed);
  }

  /** Re-encrypts a secret with the current key; returns the same text when it already is. */
  reseal(sealed: string): string {
    return masterKeyIdOf(sealed) === this.current.id ? sealed : this.seal(this.decrypt(sealed));
  }

  /** Switches to another key. The previous key remains for decryption until the next change. */
  change(next: MasterKey): void {
    if (next.id === this.current.id) {
      throw new ScenepressError('conflict', 'The new master key is already in use.');
    }
    [this.#current, this.#former] = [next, this.current];
  }
}
