import { styleText } from 'node:util';

type Colour = 'gray' | 'cyan' | 'green' | 'yellow' | 'red';
type Fields = Record<string, unknown>;

const LEVELS: Record<number, [name: string, colour: Colour]> = {
  10: ['trace', 'gray'],
  20: ['debug', 'cyan'],
  30: ['info', 'green'],
  40: ['warn', 'yellow'],
  50: ['error', 'red'],
  60: ['fatal', 'red'],
};
const WARN = 40;

/** Where lines are shown. */
export interface TextTarget {
  isColoured: boolean;
  /** Details of records below the level `warn` are cut to this width. */
  columns: number;
}

/**
 * One line for people of one line of JSON: time (UTC), level, message and details. Stacks and nested values are only
 * in the JSON.
 */
export function textLine(json: string, { isColoured, columns }: TextTarget): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as Fields & { level: number; time: string };
  const paint = (colour: Colour, text: string) =>
    isColoured && text !== '' ? styleText(colour, text, { validateStream: false }) : text;
  const [name, colour] = LEVELS[level] ?? [String(level), 'gray'];
  const clock = `${time.slice(11, 19)}Z`;
  const { message, details } =
    msg === 'request' ? requestOf(fields) : { message: printable(String(msg)), details: detailsOf(fields) };
  const width = columns - `${clock} ${name.padEnd(5)} ${message}  `.length;
  const shown =
    level >= WARN || details.length <= width ? details : `${details.slice(0, Math.max(0, width - 1))}…`;
  const rest = shown === '' || shown === '…' ? '' : `  ${paint('gray', shown)}`;
  return `${paint('gray', clock)} ${paint(colour, name.padEnd(5))} ${message}${rest}\n`;
}

function requestOf({ method, path, status, ms }: Fields): { message: string; details: string } {
  return { message: printable(`${method} ${path} ${status}`), details: `${ms} ms` };
}

/** Errors by their message; other values by name. */
function detailsOf(fields: Fields): string {
  return Object.entries(fields)
    .flatMap(([name, value]) => {
      if (name === 'err') return [`(${(value as { message?: unknown } | null)?.message ?? value})`];
      return typeof value === 'object' ? [] : [`${name}=${value}`];
    })
    .map(printable)
    .join(' ');
}

/** Without control characters and line breaks: a path or a scene's output must not control the terminal. */
function printable(text: string): string {
  return text.replace(/\p{C}+/gu, ' ');
}
