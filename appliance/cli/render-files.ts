import { availableParallelism } from 'node:os';
import { forgetKeptVideos } from './own-renderer.ts';
import { ProgressLine } from './progress-line.ts';
import { RenderEvents } from './render-events.ts';
import { isFolder, OTHER_ARTIFACTS, targetsOf } from './render-output.ts';
import {
  type Asked,
  askedOf,
  manimConfigFor,
  type RenderFlags,
  renderServerOf,
  wrongUsage,
} from './render-request.ts';
import { chosenScenes, type Running, renderScene, withRendererOf } from './render-scenes.ts';
import type { Renders } from './warm-renderer.ts';

/** A file in its turn: what is asked of it, or why it can't be tried. */
type Turn = { file: string; asked: Asked } | { file: string; error: unknown };

/** Neighbours with the same folder: a renderer is made for one. */
interface Group {
  turns: Turn[];
  first: Asked | undefined;
}

/** Renders several files in turn. One that fails or can't be tried doesn't stop the others. */
export async function renderFiles(files: string[], flags: RenderFlags): Promise<void> {
  refuseFlagsOfOneFile(flags);
  const progress = new ProgressLine();
  const renders = new FileRenders(new RenderEvents(flags, progress), progress);
  if (flags.flush_cache) await forgetKeptVideos();
  const workers = flags.all ? availableParallelism() : 1;
  for (const { first, turns } of groupsOf(await turnsOf(files, flags))) {
    if (first)
      await withRendererOf(
        { ...first, folder: ofNoFile(first) },
        { workers, progress },
        (renderer, interrupted) => renders.renderAll(turns, renderer, interrupted),
      );
    else for (const turn of turns) renders.refuse(turn);
  }
}

/** Error: for flags that several files can't share. */
function refuseFlagsOfOneFile(flags: RenderFlags): void {
  const { watch, list, out } = flags;
  if (watch) throw wrongUsage('--watch takes one file, and renders it again on each save. Name one.');
  if (list) throw wrongUsage('--list takes one file. Call it for each.');
  if (out !== undefined && !isFolder(out))
    throw wrongUsage(
      `-o names a single file, but there are several. Name a folder, with a slash: -o ${out}/`,
    );
  const named = OTHER_ARTIFACTS.find(({ field }) => flags[field] !== undefined);
  if (named)
    throw wrongUsage(
      `--${named.field} names a single file, but there are several. Render each by a call of its own.`,
    );
}

async function turnsOf(files: string[], flags: RenderFlags): Promise<Turn[]> {
  const manim = manimConfigFor(renderServerOf(flags), flags);
  const turns: Turn[] = [];
  for (const file of files) {
    try {
      // The output file of a manim.cfg would be that of all.
      const asked = await askedOf(file, [], { ...flags, out: flags.out ?? './' }, manim);
      const inFolder = asked.folder?.file;
      turns.push({
        file,
        asked: inFolder ? { ...asked, request: { ...asked.request, file: inFolder } } : asked,
      });
    } catch (error) {
      turns.push({ file, error });
    }
  }
  return turns;
}

function groupsOf(turns: Turn[]): Group[] {
  const groups: Group[] = [];
  for (const turn of turns) {
    const asked = 'asked' in turn ? turn.asked : undefined;
    const group = groups.at(-1);
    const fits = !asked || !group?.first || group.first.folder?.path === asked.folder?.path;
    if (group && fits) {
      group.turns.push(turn);
      group.first ??= asked;
    } else groups.push({ turns: [turn], first: asked });
  }
  return groups;
}

/** Each request names its file. */
function ofNoFile({ folder }: Asked): Asked['folder'] {
  return folder && { ...folder, file: null };
}

/** The renders of a call. */
class FileRenders {
  readonly #events: RenderEvents;
  readonly #progress: ProgressLine;
  /** Which file has made each output. */
  readonly #makers = new Map<string, string>();

  constructor(events: RenderEvents, progress: ProgressLine) {
    this.#events = events;
    this.#progress = progress;
  }

  async renderAll(turns: Turn[], renderer: Renders, interrupted: AbortSignal): Promise<void> {
    for (const turn of turns) {
      if ('error' in turn) this.refuse(turn);
      else await this.#render(renderer, turn.asked, { progress: this.#progress, interrupted });
    }
  }

  refuse({ file, error }: { file: string; error?: unknown }): void {
    this.#events.refused(file, null, error);
  }

  async #render(renderer: Renders, asked: Asked, running: Running): Promise<void> {
    const names = await this.#chosen(renderer, asked, running.interrupted);
    await Promise.all(names.map((name) => this.#renderScene(renderer, name, asked, running)));
  }

  async #chosen(renderer: Renders, asked: Asked, interrupted: AbortSignal): Promise<string[]> {
    try {
      return await chosenScenes(renderer, asked, interrupted);
    } catch (error) {
      interrupted.throwIfAborted();
      this.#events.refused(asked.file, null, error);
      return [];
    }
  }

  async #renderScene(renderer: Renders, name: string, asked: Asked, running: Running): Promise<void> {
    const { file } = asked;
    try {
      this.#claim(name, asked);
      const onProgress = this.#events.started(file, name);
      this.#events.rendered(file, await renderScene(renderer, name, asked, { ...running, onProgress }));
    } catch (error) {
      running.interrupted.throwIfAborted();
      this.#events.refused(file, name, error);
    }
  }

  /** Error: when another file has made the output. */
  #claim(name: string, { file, format, flags }: Asked): void {
    const { output } = targetsOf(name, format, flags);
    const maker = this.#makers.get(output);
    if (maker !== undefined)
      throw wrongUsage(
        `${output} is that of ${maker}, which has a scene of the same name. Render ${file} by a call of its own, with -o.`,
      );
    this.#makers.set(output, file);
  }
}
