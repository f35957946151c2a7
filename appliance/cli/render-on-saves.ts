import { basename } from 'node:path';
import { UserError } from '../support/user-error.ts';
import { openFile } from './open-file.ts';
import { printable } from './output.ts';
import { type Played, PlayerPage } from './player-page.ts';
import type { ProgressLine } from './progress-line.ts';
import { targetsOf } from './render-output.ts';
import { type Asked, readCode } from './render-request.ts';
import { FolderWatch } from './watch-folder.ts';

/**
 * Renders, and again after each save of a file that the scenes can read, until `interrupted`; a page shows the results.
 * Errors of the scenes are shown, and the next save is awaited. `render` resolves with what became of the scenes.
 */
export async function renderOnSaves(
  asked: Asked,
  render: () => Promise<Played[]>,
  { progress, interrupted }: { progress: ProgressLine; interrupted: AbortSignal },
): Promise<void> {
  const { file, folder, scenes, format, flags } = asked;
  const opens = flags.preview === true;
  flags.preview = false; // The page shows each result.
  const { output, others } = targetsOf(scenes[0] ?? '', format, flags);
  const saves = new FolderWatch(file, folder?.path ?? null);
  const page = new PlayerPage();

  /** Scenes name most of the files that they read. */
  function isInput(path: string): boolean {
    const name = basename(path);
    const isTemplate = flags.tex_template !== undefined && basename(flags.tex_template) === name;
    return name.endsWith('.py') || isTemplate || Buffer.from(asked.code).includes(name);
  }

  async function renderSaved(isFirst: boolean): Promise<void> {
    try {
      asked.code = await readCode(file);
      page.show(await render());
    } catch (error) {
      const isWrongUsage = isFirst && error instanceof UserError && error.exitCode === 2;
      if (interrupted.aborted || !(error instanceof UserError) || isWrongUsage) throw error;
      progress.clear();
      process.stderr.write(`${printable(error.message)}\n`);
      page.show([], printable(error.message));
    }
  }

  try {
    const url = await page.start();
    await renderSaved(true);
    progress.clear();
    if (opens) openFile(url);
    else process.stderr.write(`Player: ${url}\n`);
    for (;;) {
      progress.say('Waiting for a save');
      const own = asked.made.length > 0 ? asked.made : [output, ...Object.values(others)];
      await saves.nextSave({ own, isInput }, interrupted);
      progress.say(null);
      await renderSaved(false);
    }
  } finally {
    saves.close();
    page.stop();
  }
}
