import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Bytes of everything in folders, in whole blocks; folders and links take one. `du` counts what this file system gave to
 * folders, which is another number wherever they were filled in another order.
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
