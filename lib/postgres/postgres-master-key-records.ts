import type { MasterKeyRecords } from '../keys/stored-master-key.ts';
import type { SqlDatabase } from '../storage/sql.ts';

/** What is recorded of the master key in Postgres. */
export class PostgresMasterKeyRecords implements MasterKeyRecords {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async read(name: 'check' | 'next'): Promise<string | undefined> {
    const row = await this.#database.get<{ content: string }>(
      'SELECT content FROM master_keys WHERE name = ?',
      name,
    );
    return row?.content;
  }

  /** Two machines that start for the first time agree on one. */
  add(name: 'check' | 'next', content: string): Promise<string> {
    return this.#database.transaction(async (tx) => {
      await tx.run('INSERT INTO master_keys VALUES (?, ?) ON CONFLICT (name) DO NOTHING', name, content);
      const row = await tx.get<{ content: string }>('SELECT content FROM master_keys WHERE name = ?', name);
      return row?.content ?? content;
    });
  }

  async finish(check: string): Promise<void> {
    await this.#database.transaction(async (tx) => {
      await tx.run("UPDATE master_keys SET content = ? WHERE name = 'check'", check);
      await tx.run("DELETE FROM master_keys WHERE name = 'next'");
    });
  }
}
