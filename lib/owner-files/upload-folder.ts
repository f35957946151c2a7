import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolders } from '../files/disk.ts';

const PREFIX = 'scenepress-uploads-';
const OWN_NAME = /^scenepress-uploads-(\d+)-[A-Za-z0-9]{6}$/;
/** Those of all services of this process. */
const ours = new Set<string>();

/**
 * The folder of contents that are being received: a given one, which its owner empties, or a private one in the system's folder
 * for temporary files, made when it is first needed.
 */
export class UploadFolder {
  readonly #given: string | undefined;
  readonly #parent: string;
  #made: Promise<string> | undefined;

  /** `parent`: of the private folder; default: the system's folder for temporary files. */
  constructor(given: string | undefined, parent: string = tmpdir()) {
    this.#given = given;
    this.#parent = parent;
  }

  /** Its path. Only this user may enter it. */
  async path(): Promise<string> {
    if (this.#given === undefined) {
      this.#made ??= this.#make();
      return this.#made;
    }
    await makeFolders(this.#given);
    return this.#given;
  }

  /** Removes private folders that processes of this user have left. */
  async start(): Promise<void> {
    if (this.#given !== undefined) return;
    const names = await readdir(this.#parent).catch(() => []);
    for (const name of names) {
      const [, pid] = OWN_NAME.exec(name) ?? [];
      const path = join(this.#parent, name);
      if (pid === undefined || ours.has(path) || isAlive(Number(pid))) continue;
      const status = await lstat(path).catch(() => undefined);
      if (status?.isDirectory() && status.uid === process.getuid?.())
        await rm(path, { recursive: true, force: true }).catch(() => {});
    }
  }

  /** Removes the private folder. */
  async stop(): Promise<void> {
    const path = await this.#made?.catch(() => undefined);
    this.#made = undefined;
    if (path === undefined) return;
    await rm(path, { recursive: true, force: true });
    ours.delete(path);
  }

  async #make(): Promise<string> {
    try {
      const path = await mkdtemp(join(this.#parent, `${PREFIX}${process.pid}-`));
      ours.add(path);
      return path;
    } catch (error) {
      this.#made = undefined;
      throw error;
    }
  }
}

/** Whether the process of a folder may still run: an earlier one of this id has left what is not ours. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
