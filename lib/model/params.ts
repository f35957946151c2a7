import { withoutControlCharacters } from '../base/line-reader.ts';
import { findingOf } from './finding.ts';
import type { Finding } from './finding-types.ts';
import type { Param, ParamType } from './param-types.ts';

/** Values of the parameters of a scene, by name: JSON. */
export type Params = Readonly<Record<string, unknown>>;

/** A parameter that a scene declares with `scenepress_scene.param`. */
export interface DeclaredParam {
  name: string;
  /** In the words of JSON Schema; `any`: the scene names none, and the default is null. */
  type: ParamType;
  /** The value without a given one; null if it is longer than 4 KiB, or not known without running the scene. */
  default: unknown;
  /** For people. */
  label: string | null;
  /** Of a number, or of the length of another value. */
  minimum: number | null;
  /** Of a number, or of the length of another value. */
  maximum: number | null;
  /** The only values that it may have; null: any. */
  choices: unknown[] | null;
}

/** An identifier of Python. */
export const PARAM_NAME: RegExp = /^[\p{XID_Start}_]\p{XID_Continue}{0,99}$/u;
const LONGEST = { label: 200, json: 4096 };
const TYPES = Object.keys({
  string: true,
  integer: true,
  number: true,
  boolean: true,
  array: true,
  object: true,
  any: true,
} satisfies Record<ParamType, true>) as ParamType[];

/** As they are sent to the renderer. */
export function paramsText(params: Params | null | undefined): string {
  return JSON.stringify(params ?? {});
}

/** Sanitizes a declaration that a scene's process reports; undefined if it is none. */
export function parseParam(value: Record<string, unknown>): Param | undefined {
  const { name, label } = value;
  const type = TYPES.find((known) => known === value['type']);
  if (typeof name !== 'string' || !PARAM_NAME.test(name) || type === undefined) return undefined;
  return {
    name,
    type,
    default: jsonOf(value['default']),
    label:
      typeof label === 'string'
        ? withoutControlCharacters(label.slice(0, LONGEST.label)).toWellFormed()
        : null,
    minimum: numberOf(value['minimum']),
    maximum: numberOf(value['maximum']),
    choices: jsonOf(value['choices']),
  };
}

/** A declaration with values instead of JSON texts. */
export function declaredParam({ default: text, choices, ...param }: Param): DeclaredParam {
  const allowed: unknown = choices === null ? null : JSON.parse(choices);
  return {
    ...param,
    default: text === null ? null : JSON.parse(text),
    choices: Array.isArray(allowed) ? allowed : null,
  };
}

/** Warnings for given parameters that no scene declares. */
export function undeclared(given: Params, declared: readonly DeclaredParam[]): Finding[] {
  const names = declared.map(({ name }) => name);
  return Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => ({
      ...findingOf({
        error: `The scene declares no parameter ${name}, so it is ignored.`,
        failedBy: 'scene',
      }),
      kind: 'scene:param',
      severity: 'warning',
      hint:
        names.length === 0
          ? `Declare it: from scenepress_scene import param, then ${name} = param("${name}", …).`
          : `The scene declares ${names.join(', ')}.`.slice(0, 500),
      candidates: names.slice(0, 5),
    }));
}

/** A text that is JSON; null for anything else. */
function jsonOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > LONGEST.json) return null;
  try {
    JSON.parse(value);
    return value;
  } catch {
    return null;
  }
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
