import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import {
  ApiError,
  type ApiScene,
  type ApiSceneSummary,
  type ScenepressClient,
} from '../../lib/client/index.ts';
import { fileNames } from '../../lib/internal.ts';
import { UserError } from '../support/user-error.ts';
import { addExamples, type Example } from './describe.ts';
import { counted, print, printable, printJson, printTable, shownTime } from './output.ts';
import { callService, remoteCommand } from './remote-command.ts';
import { ofTools, type RemoteServiceOptions } from './remote-service.ts';
import { digestOf, type FolderState, readState, writeState } from './scene-state.ts';
import type { ServerFlags } from './server-flags.ts';

interface Flags extends ServerFlags {
  json?: boolean;
  folder: string;
  force?: boolean;
}

/** What a pull or a push did with a file. */
export interface MovedScene {
  file: string;
  name: string;
  sceneId: string;
  revision: number;
  state: 'written' | 'pushed' | 'created' | 'unchanged';
}

const MOST_BYTES = 1024 ** 2;
const HTTP: RemoteServiceOptions = { mostBytes: MOST_BYTES };
const PAGE = 500;

/** `scenepress scene …` */
export function sceneCommand(): Command {
  const scene = new Command('scene').description('Scenes that an account keeps in a service, as .py files');
  addExamples(scene, 'scenepress scene pull --folder scenes', 'scenepress scene push --folder scenes');
  scene.addCommand(
    remoteCommand('list', 'List scenes, those that were changed last first', 'scenepress scene list')
      .option('--text <words>', 'only scenes with words that begin so, in name, class name and code')
      .action(async (flags: Flags & { text?: string }) => {
        const scenes = await callService(flags, HTTP, (client, signal) => all(client, signal, flags.text));
        if (flags.json) return printJson(scenes);
        printTable(
          ['NAME', 'REVISION', 'VERSIONS', 'CHANGED', 'SCENE ID'],
          scenes.map(({ name, revision, lastVersion, changedAt, sceneId }) => [
            ...[name, String(revision), String(lastVersion?.version ?? 0), shownTime(changedAt), sceneId],
          ]),
        );
      }),
  );
  scene.addCommand(
    inFolder(
      'pull [name...]',
      'Write scenes to files; one that was changed here is not replaced',
      'scenepress scene pull Intro --folder scenes',
    )
      .option('--force', 'replace files that were changed here')
      .action(async (names: string[], flags: Flags) => {
        told(
          flags,
          await callService(flags, HTTP, (client, signal, url) => pull(client, url, names, flags, signal)),
        );
      }),
  );
  scene.addCommand(
    inFolder(
      'push [file...]',
      'Save files as drafts, by default all of the folder; one whose scene was saved elsewhere is refused',
      'scenepress scene push Intro.py --folder scenes',
    )
      .option('--force', 'save them also then; what was saved elsewhere stays among the drafts')
      .action(async (files: string[], flags: Flags) => {
        told(
          flags,
          await callService(flags, HTTP, (client, signal, url) => push(client, url, files, flags, signal)),
        );
      }),
  );
  return scene;
}

async function pull(
  client: ScenepressClient,
  url: string,
  names: readonly string[],
  { folder, force = false }: Flags,
  signal: AbortSignal,
): Promise<MovedScene[]> {
  const [state, listed] = [await readState(folder, url), await all(client, signal)];
  const asked = names.length === 0 ? listed : names.flatMap((name) => named(listed, name));
  await mkdir(folder, { recursive: true });
  const taken = await readdir(folder);
  const nameOf = fileNames([...taken, ...Object.keys(state)]);
  const moved: MovedScene[] = [];
  for (const { sceneId } of asked) {
    const scene = await client.scenes.get(sceneId, { signal });
    const file = fileOf(state, sceneId) ?? nameOf(scene.name);
    const here = await codeIn(folder, file);
    const isChanged = here !== undefined && digestOf(here) !== state[file]?.sha256;
    if (isChanged && here !== scene.code && !force)
      throw new UserError(
        `${printable(file)} was changed here and has not been pushed. Push it first; or rename it, pull again and bring both ` +
          'together. With --force it is replaced.',
      );
    if (here !== scene.code) await writeFile(join(folder, file), scene.code);
    moved.push(await noted(folder, url, state, file, scene, here === scene.code ? 'unchanged' : 'written'));
  }
  return moved;
}

async function push(
  client: ScenepressClient,
  url: string,
  files: readonly string[],
  { folder, force = false }: Flags,
  signal: AbortSignal,
): Promise<MovedScene[]> {
  const state = await readState(folder, url);
  const chosen =
    files.length > 0 ? files : (await readdir(folder)).filter((name) => name.endsWith('.py')).sort();
  const moved: MovedScene[] = [];
  for (const file of chosen) {
    const code = await codeIn(folder, file);
    if (code === undefined || !/^[^/\\]+\.py$/.test(file))
      throw new UserError(`There is no file ${printable(file)} in ${folder}: name a .py file in it.`);
    const known = state[file];
    if (!known) {
      const created = await ofTools(client.scenes.create({ name: file.slice(0, -3), code }, { signal }));
      moved.push(await noted(folder, url, state, file, created, 'created'));
      continue;
    }
    const { sceneId } = known;
    if (digestOf(code) === known.sha256) {
      moved.push({ file, name: file.slice(0, -3), sceneId, revision: known.revision, state: 'unchanged' });
      continue;
    }
    const revision = force ? (await client.scenes.get(sceneId, { signal })).revision : known.revision;
    const saved = await client.scenes
      .save(sceneId, { revision, code }, { signal })
      .catch((error: unknown) => {
        throw refusal(error, file);
      });
    moved.push(await noted(folder, url, state, file, saved, 'pushed'));
  }
  return moved;
}

/** Says what to do about a save that was refused. */
function refusal(error: unknown, file: string): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.status === 409)
    return new UserError(
      `${printable(file)} was not pushed: its scene was saved elsewhere since it was pulled. Rename the file, pull the scene, ` +
        'bring both together and push; or push with --force, and what was saved elsewhere stays among its drafts.',
      { cause: error },
    );
  if (error.status === 404)
    return new UserError(
      `${printable(file)} was not pushed: its scene has been removed. Rename the file and push it as a new scene.`,
      { cause: error },
    );
  return error;
}

/** Records what a file has in common with the service, after each file: a later one may fail. */
async function noted(
  folder: string,
  url: string,
  state: FolderState,
  file: string,
  { sceneId, revision, code, name }: ApiScene,
  what: MovedScene['state'],
): Promise<MovedScene> {
  state[file] = { sceneId, revision, sha256: digestOf(code) };
  await writeState(folder, url, state);
  return { file, name, sceneId, revision, state: what };
}

function fileOf(state: FolderState, sceneId: string): string | undefined {
  return Object.keys(state).find((file) => state[file]?.sceneId === sceneId);
}

async function codeIn(folder: string, file: string): Promise<string | undefined> {
  return readFile(join(folder, file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new UserError(`${file} can't be read: ${error.message}`, { cause: error });
  });
}

/** Scenes by their name, or one by its id. */
function named(scenes: readonly ApiSceneSummary[], name: string): ApiSceneSummary[] {
  const found = scenes.filter((scene) => scene.name === name || scene.sceneId === name);
  if (found.length > 0) return found;
  throw new UserError(`There is no scene ${printable(name)}. \`scenepress scene list\` lists them.`);
}

async function all(client: ScenepressClient, signal: AbortSignal, text?: string): Promise<ApiSceneSummary[]> {
  const found: ApiSceneSummary[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = {
      limit: PAGE,
      ...(text !== undefined && { text }),
      ...(cursor !== undefined && { cursor }),
    };
    const page = await ofTools(client.scenes.list(query, { signal }));
    found.push(...page.scenes);
    cursor = page.next;
  }
  return found;
}

function told({ json, folder }: Flags, moved: readonly MovedScene[]): void {
  if (json) {
    printJson(moved);
    return;
  }
  for (const { file, revision, state } of moved)
    if (state !== 'unchanged') print(`${printable(join(folder, file))}  ${state}, revision ${revision}`);
  const unchanged = moved.filter(({ state }) => state === 'unchanged').length;
  if (unchanged > 0) print(`${counted(unchanged, 'file')} unchanged.`);
}

function inFolder(name: string, description: string, ...examples: Example[]): Command {
  return remoteCommand(name, description, ...examples).option(
    '--folder <folder>',
    'the folder of the files',
    '.',
  );
}
