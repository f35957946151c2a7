import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Size of folders in bytes, in whole blocks; folders and links take one block each. Unlike `du`, it doesn't depend on
 * the folder sizes of the file system, which vary with the order of creation.
 */
export function sizeOf(folders: string[], blockBytes: number): number {
  const seen = new Set<number>();
  const sizeAt = (path: string): number => {
    const stat = lstatSync(path);
    if (stat.isDirectory()) {
      return readdirSync(path).reduce((sum, name) => sum + sizeAt(join(path, name)), blockBytes);
    }
    if (stat.nlink > 1 && seen.has(stat.ino)) return 0;
    seen.add(stat.ino);
    return stat.isFile() ? Math.ceil(stat.size / blockBytes) * blockBytes : blockBytes;
  };
  return folders.reduce((sum, folder) => sum + sizeAt(folder), 0);
}
