import type { Finding, FindingKind } from './finding-types.ts';
import type { SceneFault } from './renderer-messages.ts';

export type { Finding } from './finding-types.ts';

/**
 * What a finding is about.
 *
 * | kind | meaning |
 * |---|---|
 * | `scene:syntax` | the code is no valid Python |
 * | `scene:import` | a module, or a name in it, is not there |
 * | `scene:name` | a name is not defined |
 * | `scene:attribute` | an object has no such attribute or method |
 * | `scene:argument` | an argument of a call is unknown, missing or superfluous, or cannot be animated |
 * | `scene:type` | an object of another type is needed |
 * | `scene:value` | a value cannot be used |
 * | `scene:lookup` | an index, a key or a part is not there |
 * | `scene:file` | a file is not there, or must not be written |
 * | `scene:network` | the scene uses a network, and there is none |
 * | `scene:unsupported` | it needs a window, OpenGL, a person's input, or what Manim does not support |
 * | `scene:points` | points of a mobject are not numbers |
 * | `scene:class` | the class is not there or cannot be rendered |
 * | `scene:param` | a parameter is declared wrongly, has a value that it must not have, or is not declared |
 * | `scene:exit` | the code ended the render |
 * | `scene:error` | any other error of the code |
 * | `tex` | TeX could not set a formula |
 * | `layout:off-frame` | a mobject is partly or wholly outside of the frame |
 * | `layout:overlap` | text is on text |
 * | `layout:crossed` | text is crossed by lines, without a backing |
 * | `layout:small-text` | text is too small to be read at the quality |
 * | `layout:contrast` | text or a mobject hardly differs from what is behind it |
 * | `layout:blank` | nothing is shown for a while |
 * | `layout:frozen` | nothing of what is shown changes for long |
 * | `layout:hidden` | something is added and never seen: it is transparent, or behind another |
 * | `layout:not-fixed` | a label of a 3D scene turns with the camera |
 * | `layout:zero-length` | a play is too short to be seen |
 * | `limit:…` | the scene exceeded a limit of {@link RenderLimits}, or the five seconds of processor time of a check |
 */
export const FINDING_KINDS: readonly FindingKind[] = Object.keys({
  'scene:syntax': true,
  'scene:import': true,
  'scene:name': true,
  'scene:attribute': true,
  'scene:argument': true,
  'scene:type': true,
  'scene:value': true,
  'scene:lookup': true,
  'scene:file': true,
  'scene:network': true,
  'scene:unsupported': true,
  'scene:points': true,
  'scene:class': true,
  'scene:param': true,
  'scene:exit': true,
  'scene:error': true,
  tex: true,
  'layout:off-frame': true,
  'layout:overlap': true,
  'layout:crossed': true,
  'layout:small-text': true,
  'layout:contrast': true,
  'layout:blank': true,
  'layout:frozen': true,
  'layout:hidden': true,
  'layout:not-fixed': true,
  'layout:zero-length': true,
  'limit:time': true,
  'limit:memory': true,
  'limit:disk': true,
  'limit:files': true,
  'limit:fileSize': true,
  'limit:frames': true,
  'limit:output': true,
} satisfies Record<FindingKind, true>) as FindingKind[];

/** What to do when a limit was reached. */
const LIMIT_HINTS: Partial<Record<SceneFault, string>> = {
  'limit:time': 'Make the scene shorter or simpler, or render it with a lower quality.',
  'limit:memory': 'Use fewer or smaller objects at a time: remove those that are no longer shown.',
  'limit:disk': 'Write fewer or smaller files.',
  'limit:files': 'Write fewer files.',
  'limit:fileSize': 'Write a smaller file.',
  'limit:frames': 'Make the scene shorter, or render it with fewer frames per second.',
  'limit:output': 'Make the scene shorter, or render it with a lower quality.',
};

/** What is known of a failure whose process could not report it. */
export function findingOf(
  { error, failedBy }: { error: string; failedBy: SceneFault },
  place: { line: number | null; play: number | null } = { line: null, play: null },
): Finding {
  return {
    kind: kindOf(failedBy),
    severity: 'error',
    message: error.split('\n', 1)[0] ?? '',
    line: place.line,
    column: null,
    endLine: null,
    endColumn: null,
    sourceLine: null,
    hint: LIMIT_HINTS[failedBy] ?? null,
    candidates: [],
    fix: null,
    tex: null,
    layout: null,
    play: place.play,
    calls: [],
  };
}

/** The kind of a failure of which nothing else is known. */
export function kindOf(failedBy: SceneFault): FindingKind {
  return failedBy === 'scene' ? 'scene:error' : failedBy;
}

/** What a render failed by, if it failed by a finding of this kind; undefined: no render fails by it. */
export function faultOf(kind: FindingKind): SceneFault | undefined {
  if (kind.startsWith('layout:')) return undefined;
  return kind.startsWith('scene:') ? 'scene' : (kind as SceneFault);
}
