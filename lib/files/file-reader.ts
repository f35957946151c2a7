import { open } from 'node:fs/promises';

/** A file that is read in pieces: more than 2 GiB do not fit in a buffer. */
export interface FileReader {
  readonly sizeBytes: number;
  /** Bytes behind the end are zero. */
  read(position: number, sizeBytes: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** Undefined when there is no such file. */
export async function openToRead(path: string): Promise<FileReader | undefined> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!file) return undefined;
  return {
    sizeBytes: (await file.stat()).size,
    async read(position, sizeBytes) {
      const bytes = Buffer.alloc(sizeBytes);
      for (let at = 0, isEnd = false; at < sizeBytes && !isEnd; ) {
        const { bytesRead } = await file.read(bytes, at, sizeBytes - at, position + at);
        at += bytesRead;
        isEnd = bytesRead === 0;
      }
      return bytes;
    },
    close: () => file.close(),
  };
}
