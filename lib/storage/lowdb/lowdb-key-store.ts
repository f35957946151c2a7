import assert from 'node:assert/strict';
import type { KeyRecord, KeyStore } from '../../keys/key-store.ts';
import type { Transaction } from '../storage.ts';
import type { LowdbDatabase } from './database.ts';

const TABLE = 'keys';

/** API keys in the embedded database. */
export class LowdbKeyStore implements KeyStore {
  readonly #database: LowdbDatabase;
  readonly #idByHash = new Map<string, string>();

  constructor(database: LowdbDatabase) {
    this.#database = database;
    database.listen(TABLE, (id, before, after) => {
      if (before) this.#idByHash.delete((before as KeyRecord).hash);
      if (after) this.#idByHash.set((after as KeyRecord).hash, id);
    });
  }

  async insertKey(tx: Transaction, key: KeyRecord): Promise<void> {
    const inside = this.#database.inside(tx);
    assert(inside.get(TABLE, key.keyId) === undefined, 'a keyId is used once');
    inside.put(TABLE, key.keyId, key);
  }

  async updateKey(tx: Transaction, key: KeyRecord): Promise<void> {
    const inside = this.#database.inside(tx);
    assert(inside.get(TABLE, key.keyId), 'the key exists');
    inside.put(TABLE, key.keyId, key);
  }

  async getKey(keyId: string, tx?: Transaction): Promise<KeyRecord | undefined> {
    return tx ? this.#database.inside(tx).get(TABLE, keyId) : this.#database.get(TABLE, keyId);
  }

  async findKeyByHash(hash: string): Promise<KeyRecord | undefined> {
    const keyId = this.#idByHash.get(hash);
    return keyId === undefined ? undefined : this.#database.get(TABLE, keyId);
  }

  async listKeys(accountId?: string, tx?: Transaction): Promise<KeyRecord[]> {
    // No other transaction runs meanwhile, so after that nothing is on its way.
    if (tx) await this.#database.flushed();
    const keys = [...this.#database.all<KeyRecord>(TABLE)];
    return accountId === undefined ? keys : keys.filter((key) => key.accountId === accountId);
  }
}
