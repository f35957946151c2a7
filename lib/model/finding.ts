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
 * | `scene:exit` | the code ended the render |
 * | `scene:error` | any other error of the code |
 * | `tex` | TeX could not set a formula |
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
  'scene:exit': true,
  'scene:error': true,
  tex: true,
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
    tex: null,
    play: place.play,
    calls: [],
  };
}

/** The kind of a failure of which nothing else is known. */
export function kindOf(failedBy: SceneFault): FindingKind {
  return failedBy === 'scene' ? 'scene:error' : failedBy;
}

/** What a render failed by, if it failed by a finding of this kind. */
export function faultOf(kind: FindingKind): SceneFault {
  return kind.startsWith('scene:') ? 'scene' : (kind as SceneFault);
}
