import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Command } from 'commander';
import type { InspectedSource } from '../../lib/index.ts';
import { UserError } from '../support/user-error.ts';
import { askAboutScenes, type CheckFlags } from './ask-about-scenes.ts';
import { addSceneFlags, printFound } from './check.ts';
import { addExamples } from './describe.ts';
import { print, printJson } from './output.ts';
import { addServerFlags } from './server-flags.ts';

interface InspectFlags extends CheckFlags {
  out?: string;
  pictures?: string;
}

type Scene = InspectedSource['scenes'][number];

/** The paths of a scene's pictures, where they were saved. */
interface Saved {
  sheet: string;
  pictures: string[];
}

/** `scenepress inspect FILE [SCENE]` */
export function inspectCommand(): Command {
  const command = addServerFlags(addSceneFlags(new Command('inspect')), { does: 'inspect' })
    .description('Draw pictures of scenes, and tell what cannot be read or seen in them')
    .option(
      '-o, --out <path>',
      'contact sheet to write, a JPEG; of several scenes, its folder (default: <scene>-sheet.jpg)',
    )
    .option('--pictures <folder>', 'write the pictures singly, too: <scene>-1.jpg, <scene>-2.jpg …')
    .option('--json', 'print JSON')
    .action(inspect);
  command.addHelpText(
    'after',
    '\nExit codes: 0 no errors, 1 at least one finding is an error, 2 it could not be inspected. Warnings are no errors.',
  );
  return addExamples(
    command,
    ['scenepress inspect scene.py', 'writes a contact sheet for each scene'],
    ['scenepress inspect scene.py Hello -o hello.jpg --json', 'for programs'],
    [
      'scenepress inspect scene.py --server https://renders.example.org',
      'by a service, with the key in SCENEPRESS_KEY',
    ],
  );
}

async function inspect(file: string, className: string | undefined, flags: InspectFlags): Promise<void> {
  const { out, pictures, ...shared } = flags;
  await askAboutScenes(file, className, shared, async (asks, { code, question, place, done }) => {
    const found = await asks.inspect(code, question, { isSingly: pictures !== undefined });
    done();
    const { ok, findings, scenes } = found;
    const saved = await saveAll(scenes, { out, pictures });
    if (flags.json)
      printJson({ ok, findings, scenes: scenes.map((scene, index) => shown(scene, saved[index])) });
    else {
      printFound(place, new TextDecoder().decode(code), found);
      for (const { sheet } of saved) print(`Contact sheet: ${sheet}`);
    }
    if (!ok) process.exitCode = 1;
  });
}

/** A scene with the paths of its pictures instead of their bytes. */
function shown({ sheet: _, pictures, ...scene }: Scene, saved: Saved | undefined): object {
  return {
    ...scene,
    sheet: saved?.sheet ?? null,
    pictures: pictures.map(({ jpeg: _, ...picture }, index) => ({
      ...picture,
      path: saved?.pictures[index] ?? null,
    })),
  };
}

async function saveAll(
  scenes: Scene[],
  { out, pictures: folder }: { out: string | undefined; pictures: string | undefined },
): Promise<Saved[]> {
  const saved: Saved[] = [];
  for (const { className, sheet, pictures } of scenes) {
    const name = `${className}-sheet.jpg`;
    const path = out === undefined ? name : scenes.length > 1 || out.endsWith('/') ? join(out, name) : out;
    await save(path, sheet);
    const paths: string[] = [];
    for (const { number, jpeg } of folder === undefined ? [] : pictures) {
      const target = join(folder as string, `${className}-${number}.jpg`);
      await save(target, jpeg);
      paths.push(target);
    }
    saved.push({ sheet: path, pictures: paths });
  }
  return saved;
}

/** Writes a file by renaming a temporary one. */
async function save(path: string, bytes: Uint8Array): Promise<void> {
  const part = `${path}.part`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await rm(part, { force: true }); // It may be a link.
    await writeFile(part, bytes, { flag: 'wx' });
    await rename(part, path);
  } catch (cause) {
    await rm(part, { force: true }).catch(() => {});
    const message = `${relative('', path)} can't be written: ${(cause as Error).message}.`;
    throw new UserError(message, { cause });
  }
}
