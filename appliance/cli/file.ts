import { createWriteStream, openAsBlob } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { Command } from 'commander';
import type { ApiFile, ScenepressClient } from '../../lib/client/index.ts';
import { UserError } from '../support/user-error.ts';
import { addExamples } from './describe.ts';
import { counted, print, printable, printJson, printTable, shownSize, shownTime } from './output.ts';
import { callService, remoteCommand } from './remote-command.ts';
import { ofTools, type RemoteServiceOptions } from './remote-service.ts';
import type { ServerFlags } from './server-flags.ts';

interface Flags extends ServerFlags {
  json?: boolean;
  folder?: string;
}

const MIB = 1024 ** 2;
/** Of a file that is fetched. */
const MOST_BYTES = 4096 * MIB;
/** How long a service may take to receive a file. */
const TIMEOUT_MS = 10 * 60_000;
const HTTP: RemoteServiceOptions = { mostBytes: MOST_BYTES, timeoutMs: TIMEOUT_MS };
const PAGE = 500;

/** `scenepress file …` */
export function fileCommand(): Command {
  const file = new Command('file').description(
    'Files of an account, such as logos, sounds and fonts, which its scenes read by name',
  );
  addExamples(file, 'scenepress file put logo.png --server http://127.0.0.1:8080', 'scenepress file list');

  file.addCommand(
    remoteCommand(
      'put <file...>',
      'Keep files, or all files in folders; each replaces the file of the same name',
      'scenepress file put logo.png narration/ --server http://127.0.0.1:8080',
      ['scenepress file put intro.mp3 --folder voices', 'its name is voices/intro.mp3'],
    )
      .option('--folder <folder>', 'the folder that they are kept in')
      .option('--name <name>', 'the name of the file, if it is one')
      .action(async (paths: string[], flags: Flags & { name?: string }) => {
        const named = await namesOf(paths, flags);
        const kept = await callService(flags, HTTP, (client, signal) =>
          inTurn(named, ([path, name]) => put(client, path, name, signal)),
        );
        if (flags.json) return printJson(kept);
        for (const { name, sizeBytes } of kept) print(`${printable(name)}  ${shownSize(sizeBytes)}`);
      }),
  );

  file.addCommand(
    remoteCommand('list', 'List files, by name', 'scenepress file list --folder voices')
      .option('--folder <folder>', 'only those in this folder and below it')
      .option('--search <text>', 'only those whose names contain the text')
      .action(async (flags: Flags & { search?: string }) => {
        const { folder, search } = flags;
        const files = await callService(flags, HTTP, (client, signal) =>
          all(client, { folder, search }, signal),
        );
        if (flags.json) return printJson(files);
        printTable(
          ['NAME', 'KIND', 'SIZE', 'CREATED', 'FILE ID'],
          files.map(({ name, kind, sizeBytes, createdAt, fileId }) => [
            ...[name, kind, shownSize(sizeBytes), shownTime(createdAt), fileId],
          ]),
        );
      }),
  );

  file.addCommand(
    remoteCommand('get <name>', 'Download a file', 'scenepress file get logo.png -o copy.png')
      .option('-o, --output <path>', 'where to write it; default: under its name, without its folder')
      .action(async (name: string, flags: Flags & { output?: string }) => {
        const path = flags.output ?? basename(name);
        const found = await callService(flags, HTTP, async (client, signal) => {
          const one = await named(client, name, signal);
          const { body } = await client.files.download(one.fileId, { signal });
          if (body) await pipeline(Readable.fromWeb(body as ReadableStream), createWriteStream(path));
          return one;
        });
        if (flags.json) printJson(found);
        else print(path);
      }),
  );

  file.addCommand(
    remoteCommand(
      'rename <name> <new-name>',
      'Rename a file; jobs that were added before find it under its earlier name',
      'scenepress file rename logo.png brand/logo.png',
    ).action(async (name: string, newName: string, flags: Flags) => {
      const renamed = await callService(flags, HTTP, async (client, signal) => {
        const one = await named(client, name, signal);
        return ofTools(client.files.rename(one.fileId, newName, { signal }));
      });
      if (flags.json) printJson(renamed);
      else print(`Renamed ${printable(name)} to ${printable(renamed.name)}.`);
    }),
  );

  file.addCommand(
    remoteCommand(
      'remove <name...>',
      'Remove files; jobs that were added before keep them',
      'scenepress file remove logo.png',
    ).action(async (names: string[], flags: Flags) => {
      const removed = await callService(flags, HTTP, (client, signal) =>
        inTurn(names, async (name) => {
          const one = await named(client, name, signal);
          await client.files.remove(one.fileId, { signal });
          return one;
        }),
      );
      if (flags.json) printJson(removed);
      else print(`Removed ${counted(removed.length, 'file')}.`);
    }),
  );
  return file;
}

async function put(
  client: ScenepressClient,
  path: string,
  name: string,
  signal: AbortSignal,
): Promise<ApiFile> {
  const content = await openAsBlob(path);
  return ofTools(client.files.put(name, content, { signal }));
}

async function all(
  client: ScenepressClient,
  { folder, search }: { folder?: string | undefined; search?: string | undefined },
  signal: AbortSignal,
): Promise<ApiFile[]> {
  const found: ApiFile[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = {
      limit: PAGE,
      ...(folder !== undefined && { folder }),
      ...(search !== undefined && { search }),
      ...(cursor !== undefined && { cursor }),
    };
    const page = await ofTools(client.files.list(query, { signal }));
    found.push(...page.files);
    cursor = page.next;
  }
  return found;
}

/** A file by its name, or by its id. */
async function named(client: ScenepressClient, name: string, signal: AbortSignal): Promise<ApiFile> {
  const files = await all(client, {}, signal);
  const found = files.find((file) => file.name === name || file.fileId === name);
  if (found) return found;
  throw new UserError(`There is no file ${printable(name)}. \`scenepress file list\` lists them.`);
}

async function inTurn<Given, Result>(
  given: readonly Given[],
  work: (one: Given) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const one of given) results.push(await work(one));
  return results;
}

/** The paths of files, with the names that they get: those in a folder keep their place in it. */
async function namesOf(
  paths: readonly string[],
  { folder, name }: Flags & { name?: string },
): Promise<[path: string, name: string][]> {
  const found: [string, string][] = [];
  for (const path of paths) {
    const status = await stat(path).catch((cause: NodeJS.ErrnoException) => {
      throw new UserError(`${path} can't be read: ${cause.message}`, { exitCode: 2, cause });
    });
    if (!status.isDirectory()) found.push([path, basename(path)]);
    else
      for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
        const below = join(entry.parentPath, entry.name);
        if (entry.isFile() && !/(^|[/\\])\./.test(relative(path, below)))
          found.push([below, relative(path, below).split(sep).join('/')]);
      }
  }
  if (name !== undefined && found.length !== 1)
    throw new UserError(`--name is for one file, not for ${counted(found.length, 'file')}.`, { exitCode: 2 });
  const prefix = folder === undefined ? '' : `${folder.replace(/\/+$/, '')}/`;
  const names = found.map(([path, own]): [string, string] => [path, prefix + (name ?? own)]);
  return names.sort(([, a], [, b]) => (a < b ? -1 : 1));
}
