import { type Command, InvalidArgumentError } from 'commander';
import type { LocalRequest } from '../../lib/index.ts';
import { jsonOfFlag } from './json-of-flag.ts';

type Params = NonNullable<LocalRequest['params']>;

/** What {@link addParamFlags} adds to the flags of a command. */
export interface ParamFlags {
  param?: Params;
  /** Those of the file. */
  params?: Params;
}

/** Adds the flags that give scenes their parameters. */
export function addParamFlags(command: Command): Command {
  return command
    .option(
      '--param <name=value>',
      'value of a parameter that the scenes declare, as JSON or as text; may be repeated',
      addParam,
    )
    .option('--params <file>', 'values of parameters: a file with a JSON object', paramsIn);
}

/** The parameters of flags: those of `--param` take precedence. Nothing, if there are none. */
export function paramsOfFlags({ param, params }: ParamFlags): { params?: Params } {
  return param || params ? { params: { ...params, ...param } } : {};
}

function addParam(text: string, earlier: Params = {}): Params {
  const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Expected name=value, such as language=de.');
  return { ...earlier, [name]: parsed(value) };
}

/** JSON if it is that, else text. */
function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function paramsIn(file: string): Params {
  const content = jsonOfFlag(file);
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new InvalidArgumentError('Expected a file with a JSON object, such as {"language": "de"}.');
  return content as Params;
}
