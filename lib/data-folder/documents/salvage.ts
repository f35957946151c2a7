import { ScenepressError } from '../../base/errors.ts';
import { DATA_FILES } from '../../files/data-files.ts';
import { type Disk, replaceFile } from '../../files/disk.ts';
import { DEFAULT_SETTINGS } from '../../storage/settings-store.ts';
import { ACCOUNTS_FORMAT } from './document-account-store.ts';
import { Flaw } from './document-file.ts';
import { KEYS_FORMAT } from './document-key-store.ts';
import { SETTINGS_FORMAT } from './document-settings.ts';
import { LaterFormat, type ListFormat } from './format.ts';
import type { LostRow } from './lost-row.ts';

/** The problems of documents, and their repaired contents. */
export interface DocumentSalvage {
  /** One sentence each, starting with the file name. */
  faults: string[];
  /** Entries of the files that cannot be used. */
  lost: LostRow[];
  /** The new contents by file name, for files that must be rewritten. */
  contents: Map<string, Buffer[]>;
}

/** Reads the documents of a folder; entry by entry when a file is invalid. */
export async function salvageDocuments(disk: Disk, folder: string): Promise<DocumentSalvage> {
  const found: DocumentSalvage = { faults: [], lost: [], contents: new Map() };
  const names = await disk.list(folder);
  // Until the settings exist, the next start creates missing documents.
  const isWhole = names.includes(DATA_FILES.settings);
  const read = async (name: string) => (await disk.read(`${folder}/${name}`))?.toString();
  salvageList(found, DATA_FILES.accounts, ACCOUNTS_FORMAT, await read(DATA_FILES.accounts), isWhole);
  salvageList(found, DATA_FILES.keys, KEYS_FORMAT, await read(DATA_FILES.keys), isWhole);
  const settings = await read(DATA_FILES.settings);
  const flaw =
    settings === undefined ? undefined : flawIn(DATA_FILES.settings, SETTINGS_FORMAT.parse, settings);
  if (flaw) {
    found.faults.push(`${DATA_FILES.settings}: ${flaw}`);
    found.contents.set(DATA_FILES.settings, [...SETTINGS_FORMAT.printer()(DEFAULT_SETTINGS)]);
  }
  return found;
}

export async function writeSalvaged(
  disk: Disk,
  folder: string,
  { contents }: DocumentSalvage,
): Promise<void> {
  for (const [name, content] of contents) await replaceFile(disk, folder, name, content);
}

function salvageList<Row extends object>(
  found: DocumentSalvage,
  file: string,
  format: ListFormat<Row>,
  text: string | undefined,
  isWhole: boolean,
): void {
  if (text === undefined) {
    if (!isWhole) return;
    found.faults.push(`${file}: it is missing; its contents are lost`);
    found.contents.set(file, [...format.printer()([])]);
    return;
  }
  const flaw = flawIn(file, format.parse, text);
  if (flaw === undefined) return;
  const rows = usableEntries(text, format);
  const saved = new Set(rows.map((row) => format.idOf(row)));
  const lost = idsNamedIn(text, format).filter((id) => !saved.has(id));
  found.faults.push(`${file}: ${flaw}`);
  for (const id of lost) found.lost.push({ table: format.name, key: id, reason: 'the entry breaks a rule' });
  found.contents.set(file, [...format.printer()(rows)]);
}

function flawIn(file: string, parse: (text: string) => unknown, text: string): string | undefined {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    if (error instanceof LaterFormat)
      throw new ScenepressError('storage_damaged', `${file} can't be used: ${error.message}.`);
    if (error instanceof Flaw) return error.message;
    throw error;
  }
}

/** The valid entries; of conflicting ones, the first. */
function usableEntries<Row extends object>(text: string, format: ListFormat<Row>): Row[] {
  const rows: Row[] = [];
  const taken = new Set<string>();
  for (const entry of entriesIn(text, format.name)) {
    const row = readable(entry, format);
    if (!row) continue;
    const values = Object.entries(format.unique).map(([name, valueIn]) => [name, valueIn(row)]);
    const named = values.filter(([, value]) => value !== undefined).map((value) => value.join('\0'));
    if (named.some((value) => taken.has(value))) continue;
    for (const value of named) taken.add(value);
    rows.push(row);
  }
  return rows;
}

function readable<Row>(entry: unknown, format: ListFormat<Row>): Row | undefined {
  try {
    return format.readEntry(entry);
  } catch (error) {
    if (error instanceof Flaw) return undefined;
    throw error;
  }
}

/** Matches a printed entry, even in an invalid file. */
const PRINTED_ENTRY = /^ {4}\{\n(?: {6}.*\n)* {4}\}/gm;

function entriesIn(text: string, name: string): unknown[] {
  const whole = parsed(text) as Record<string, unknown> | null | undefined;
  const entries = whole?.[name];
  if (Array.isArray(entries)) return entries;
  return [...text.matchAll(PRINTED_ENTRY)].map(([entry]) => parsed(entry));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function idsNamedIn<Row>(text: string, { id }: ListFormat<Row>): string[] {
  const names = text.matchAll(new RegExp(`"${id}"\\s*:\\s*"([^"\\\\\\n]{1,300})"`, 'g'));
  return [...new Set([...names].map(([, name]) => name as string))];
}
