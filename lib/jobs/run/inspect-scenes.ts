import { readFile } from 'node:fs/promises';
import type { Finding } from '../../model/finding-types.ts';
import type {
  InspectedPicture,
  InspectedScene,
  InspectedSource,
  InspectOptions,
} from '../../model/inspected-source.ts';
import { paramsOf } from '../../model/param-rules.ts';
import { type DeclaredParam, undeclared } from '../../model/params.ts';
import { type AspectRatio, frameSizeOf, QUALITIES } from '../../model/qualities.ts';
import { checkSource, parseRenderRequest } from '../../model/render-request.ts';
import type {
  ListResult,
  RenderResult,
  RenderTask,
  SceneSource,
  ShortFailure,
} from '../../model/render-task.ts';
import type { Play } from '../../model/renderer-messages.ts';
import { addFailure, addFinding, NO_SCENE } from './check-scenes.ts';

/** What is needed to draw pictures of a scene. */
export type PictureTask = Pick<
  RenderTask,
  'code' | 'className' | 'widthPx' | 'heightPx' | 'fps' | 'inspect' | 'still' | 'params'
>;

/** Draws pictures of scenes. */
export interface Inspects<Scene extends InspectedScene> {
  listScenes(code: SceneSource): Promise<ListResult>;
  inspect(
    task: PictureTask,
  ): Promise<
    { kind: 'inspected'; scene: Scene; findings: Finding[]; params: DeclaredParam[] } | ShortFailure
  >;
}

const PICTURE_SIZES: Record<AspectRatio, { widthPx: number; heightPx: number }> = {
  '16:9': { widthPx: 480, heightPx: 270 },
  '9:16': { widthPx: 270, heightPx: 480 },
};

/**
 * Runs the scenes of a source with pictures of them, and returns what is wrong with the code and what they show. Errors:
 * `invalid_request` for options that no render can have, `renderer_unavailable`, and those of `inspects`.
 */
export async function inspectScenes<Scene extends InspectedScene>(
  inspects: Inspects<Scene>,
  code: SceneSource,
  {
    className,
    quality = 'medium',
    aspectRatio = '16:9',
    fps = QUALITIES[quality]?.fps,
    params: given,
  }: InspectOptions,
): Promise<InspectedSource<Scene>> {
  // A file's bytes and its classes have fewer rules than a request: here any stands for them.
  const text = typeof code === 'string' ? code : ' ';
  checkSource(code);
  parseRenderRequest({ code: text, className: '_', quality, aspectRatio, fps });
  const params = paramsOf(given);
  const found: InspectedSource<Scene> = { ok: true, findings: [], scenes: [] };
  const listed = className === undefined ? await inspects.listScenes(code) : undefined;
  if (listed && listed.kind !== 'listed') return addFailure(found, listed);
  const names = className === undefined ? (listed?.scenes ?? []) : [className];
  if (names.length === 0) return addFailure(found, NO_SCENE);
  const inspect = frameSizeOf(quality, aspectRatio).heightPx;
  const declared: DeclaredParam[] = [];
  for (const name of names) {
    const task = {
      code,
      className: name,
      ...PICTURE_SIZES[aspectRatio],
      fps,
      inspect,
      ...(params && { params }),
    };
    const result = await inspects.inspect(task);
    if (result.kind !== 'inspected') {
      addFailure(found, result);
      continue;
    }
    for (const finding of result.findings) addFinding(found.findings, finding);
    found.scenes.push(result.scene);
    declared.push(...result.params);
  }
  // A scene that has failed may declare others after its error.
  if (params && found.ok)
    for (const finding of undeclared(params, declared)) addFinding(found.findings, finding);
  return found;
}

/** What a render with `inspect` has made, with its pictures; the files may be removed afterwards. */
export async function inspectedOf(
  className: string,
  { inspection, plays, output = '', localFiles = [] }: Extract<RenderResult, { kind: 'rendered' }>,
): Promise<{ scene: InspectedScene; findings: Finding[]; params: DeclaredParam[] }> {
  const files = new Map(localFiles.map(({ name, path }) => [name, path]));
  const read = async (name: string): Promise<Uint8Array> => {
    const path = files.get(name);
    return path === undefined ? new Uint8Array() : readFile(path);
  };
  const places = inspection?.pictures ?? [];
  const pictures: InspectedPicture[] = [];
  for (const [index, place] of places.entries()) {
    const number = index + 1;
    if (!files.has(pictureName(number))) break;
    pictures.push({ number, ...place, jpeg: await read(pictureName(number)) });
  }
  const { frames = 0, seconds = 0, readsPixels = false } = inspection ?? {};
  const { moves = [], findings = [], params = [] } = inspection ?? {};
  const length = { frames, seconds, readsPixels };
  const named = (play: Play, index: number) => ({ ...play, moves: moves[index] ?? [] });
  return {
    scene: {
      className,
      ...length,
      plays: plays.map(named),
      output,
      sheet: await read('sheet.jpg'),
      pictures,
    },
    findings,
    params,
  };
}

/** The name of the file with a picture. */
export function pictureName(number: number): string {
  return `picture-${number}.jpg`;
}
