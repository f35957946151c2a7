import { crc32 } from 'node:zlib';
import { ScenepressError } from '../base/errors.ts';

/** What a database says of its schema. */
export interface SchemaMark {
  /** The number of applied migrations. */
  version: number;
  /** {@link Migrations.checksumOf} that number, as the program computed it that applied the last one. */
  checksum: number | null;
}

/**
 * The numbered changes that build a schema. A checksum of their texts is stored with the number: a build of the program
 * with other tables under the same number is recognized by it.
 */
export class Migrations {
  /** Oldest first. A migration in this list never changes; each change of the schema is a further one. */
  readonly texts: readonly string[];
  readonly #checksums = [0];

  constructor(texts: readonly string[]) {
    this.texts = texts;
    for (const text of texts) this.#checksums.push(crc32(text, this.#checksums.at(-1)));
  }

  /** The number of the schema. */
  get version(): number {
    return this.texts.length;
  }

  /** The CRC-32 of the first migrations; undefined if there are not so many. Signed, as SQLite stores it. */
  checksumOf(version: number): number | undefined {
    const checksum = this.#checksums[version];
    return checksum === undefined ? undefined : checksum | 0;
  }

  /** The error for a schema that is none of these. */
  otherVersion({ version, checksum }: SchemaMark, options?: { cause: unknown }): ScenepressError {
    return new ScenepressError(
      'conflict',
      `The data was made by another version of Scenepress (schema ${version}, ${shown(checksum)}; this version has ` +
        `schema ${this.version}, ${shown(this.checksumOf(this.version))}). Nothing was changed. Use the version that ` +
        'made it, or restore a backup that this one made.',
      options,
    );
  }
}

function shown(checksum: number | null | undefined): string {
  return checksum ? `checksum ${(checksum >>> 0).toString(16).padStart(8, '0')}` : 'without a checksum';
}
