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
const LONGEST = { label: 200, json: 4096, shown: 80 };
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

/** Errors for values that the scene will refuse, because they break a rule of their declarations. */
export function refused(given: Params, declared: readonly DeclaredParam[]): Finding[] {
  return declared.flatMap((param) => {
    if (!Object.hasOwn(given, param.name)) return [];
    const needed = brokenRule(given[param.name], param);
    if (needed === undefined) return [];
    const error = `The parameter ${param.name} must be ${needed}, not ${shown(given[param.name])}.`;
    const hint = `Give another value for \`${param.name}\`, or change what the scene declares.`;
    return [{ ...findingOf({ error, failedBy: 'scene' }), kind: 'scene:param' as const, hint }];
  });
}

const NEEDED: Record<ParamType, string> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  any: 'JSON',
};

/** What a value must be; undefined: it is that. As the renderer decides. */
function brokenRule(value: unknown, { type, minimum, maximum, choices }: DeclaredParam): string | undefined {
  if (!isOfType(value, type)) return NEEDED[type];
  if (choices && !choices.some((choice) => isDeepEqual(choice, value)))
    return `one of ${choices.map(shown).join(', ')}`.slice(0, 500);
  const size = sizeOf(value);
  if (size === undefined) return undefined;
  const what = typeof value === 'number' ? '' : 'of a length of ';
  if (minimum !== null && size < minimum) return `${what}at least ${minimum}`;
  if (maximum !== null && size > maximum) return `${what}at most ${maximum}`;
  return undefined;
}

function isOfType(value: unknown, type: ParamType): boolean {
  if (type === 'any') return true;
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

/** Python counts characters. */
function sizeOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return [...value].length;
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : undefined;
}

function isDeepEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= LONGEST.shown ? text : `${text.slice(0, LONGEST.shown)}…`;
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
