/** A file, and its path within what was dropped. */
export interface Dropped {
  path: string;
  file: File;
}

/** The files that were dropped, those in folders, too. Must be called by the listener: later there is nothing left to read. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<Dropped[]> {
  const entries = Array.from(items, (item) => item.webkitGetAsEntry());
  if (!entries.some((entry) => entry?.isDirectory)) {
    return Array.from(files, (file) => ({ path: file.name, file }));
  }
  const found = await Promise.all(entries.map((entry) => (entry ? filesIn(entry) : [])));
  return found.flat();
}

async function filesIn(entry: FileSystemEntry): Promise<Dropped[]> {
  // Such as .DS_Store, which no scene needs.
  if (entry.name.startsWith('.')) return [];
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    return [{ path: entry.fullPath.slice(1), file }];
  }
  if (!isFolder(entry)) return [];
  const reader = entry.createReader();
  const found: Dropped[] = [];
  for (;;) {
    // Some at a time; none at the end.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (entries.length === 0) return found;
    for (const one of entries) found.push(...(await filesIn(one)));
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
