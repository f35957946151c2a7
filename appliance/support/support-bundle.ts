import { open } from 'node:fs/promises';
import { cpus, freemem, release, totalmem } from 'node:os';
import { gzipSync } from 'node:zlib';
import { packTar } from 'modern-tar';
import { redact, redactLogLine } from './redact.ts';

/** A file of the bundle. */
export interface BundleFile {
  name: string;
  text: string;
}

const MOST_LOG_BYTES = 4 * 1024 * 1024;
const READ_ME = `Created by \`scenepress support-bundle\`. Contains versions, configuration, the findings of the doctor, counts and the
last lines of the log file, if there is one. Contains no scenes, metadata, keys, secrets or e-mail addresses.
Review it before you send it: it contains paths and host names.
`;

/** Relevant properties of the machine. */
export function machine(): object {
  return {
    kernel: release(),
    cpus: cpus().length,
    cpu: cpus()[0]?.model ?? null,
    memoryBytes: totalmem(),
    freeMemoryBytes: freemem(),
    user: process.geteuid?.() === 0 ? 'root' : 'another',
  };
}

export function jsonFile(name: string, value: unknown): BundleFile {
  return { name, text: `${JSON.stringify(value, null, 2)}\n` };
}

/** The end of a log file, redacted. */
export async function logFile(path: string): Promise<BundleFile> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const length = Math.min(size, MOST_LOG_BYTES);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    const lines = buffer
      .toString('utf8')
      .split('\n')
      .slice(length < size ? 1 : 0);
    const kept = lines.map(redactLogLine).filter((line) => line !== undefined);
    return { name: 'log.jsonl', text: kept.map((line) => `${line}\n`).join('') };
  } finally {
    await file.close();
  }
}

/** Packs the files into a tar.gz with a single top-level folder. Redacts every file again. */
export async function packBundle(folder: string, files: BundleFile[]): Promise<Uint8Array> {
  const all = [{ name: 'README.txt', text: READ_ME }, ...files];
  const entries = all.map(({ name, text }) => {
    const body = Buffer.from(redact(text));
    return {
      header: { name: `${folder}/${name}`, size: body.length, mode: 0o600, type: 'file' as const },
      body,
    };
  });
  return gzipSync(await packTar(entries));
}
