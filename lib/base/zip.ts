import { crc32, deflateRawSync } from 'node:zlib';

/** Of the format without its extension for large archives. */
const MOST_FILES = 65_535;
const VERSION = 20;
/** Names are in UTF-8. */
const FLAGS = 0x0800;
const DEFLATED = 8;

/** The bytes of a ZIP archive, file by file: those of each {@link Zip.file}, then those of {@link Zip.end}. */
export class Zip {
  readonly #directory: Buffer[] = [];
  #offset = 0;

  /** A file of at most 4 GiB, as those before together. `name`: its path. */
  file(name: string, content: string, changedAt: Date): Buffer {
    if (this.#directory.length === MOST_FILES) throw new RangeError(`more than ${MOST_FILES} files`);
    const data = Buffer.from(content);
    const deflated = deflateRawSync(data);
    const path = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(VERSION, 0);
    common.writeUInt16LE(FLAGS, 2);
    common.writeUInt16LE(DEFLATED, 4);
    common.writeUInt32LE(dosTimeOf(changedAt), 6);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(deflated.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(path.length, 22);
    const entry = Buffer.concat([signature('PK\x03\x04'), common, path, deflated]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(this.#offset, 10);
    this.#directory.push(Buffer.concat([signature('PK\x01\x02'), version(), common, place, path]));
    this.#offset += entry.length;
    return entry;
  }

  /** The directory, which ends the archive. */
  end(): Buffer {
    const directory = Buffer.concat(this.#directory);
    const end = Buffer.alloc(18);
    end.writeUInt16LE(this.#directory.length, 4);
    end.writeUInt16LE(this.#directory.length, 6);
    end.writeUInt32LE(directory.length, 8);
    end.writeUInt32LE(this.#offset, 12);
    return Buffer.concat([directory, signature('PK\x05\x06'), end]);
  }
}

function signature(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function version(): Buffer {
  const made = Buffer.alloc(2);
  made.writeUInt16LE(VERSION);
  return made;
}

/** In UTC: the format has no time zone. Its years begin with 1980. */
function dosTimeOf(at: Date): number {
  const year = Math.max(0, at.getUTCFullYear() - 1980);
  const date = (year << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return ((date << 16) | time) >>> 0;
}
