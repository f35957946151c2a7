import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const CHECKOUT = join(import.meta.dirname, '../..');

/** A command of a page, with the output that the page shows below it as comments. */
export interface Command {
  text: string;
  /** Undefined when the page shows none. */
  output: string | undefined;
}

/** The code block of a page that contains `text`. Error: when none or several do. */
export function blockOf(page: string, text: string): string {
  const source = readFileSync(join(CHECKOUT, page), 'utf8');
  const blocks = [...source.matchAll(/^( *)```\w+\n(.*?)^\1```$/gms)].map(([, , block = '']) => block);
  const found = blocks.filter((block) => block.includes(text));
  assert.equal(found.length, 1, `${page} has one block with ${JSON.stringify(text)}`);
  return found[0] as string;
}

/** The commands of a block for a shell. Lines that belong together stay together: a here-document, a quoted text. */
export function commandsOf(block: string): Command[] {
  const commands: Command[] = [];
  let lines: string[] = [];
  let output: string[] = [];
  const end = () => {
    const text = lines.join('\n').trim();
    if (text !== '') commands.push({ text, output: output.length > 0 ? output.join('\n') : undefined });
    [lines, output] = [[], []];
  };
  for (const line of block.split('\n')) {
    const isOpen = !isComplete(lines.join('\n'));
    if (!isOpen && line.startsWith('#')) output.push(line.replace(/^# ?/, ''));
    else {
      if (!isOpen) end();
      lines.push(line);
    }
  }
  end();
  return commands;
}

/** Whether a shell would run this, instead of waiting for more lines. */
function isComplete(text: string): boolean {
  const heredoc = /<<'?(\w+)'?/.exec(text);
  if (heredoc) return new RegExp(`^${heredoc[1]}$`, 'm').test(text);
  return (text.replaceAll(/\\./gs, '').match(/'/g) ?? []).length % 2 === 0 && !text.endsWith('\\');
}

/**
 * What output must look like. In a page, numbers are examples, and so is a word that ends with an ellipsis, which also
 * stands for anything between other text.
 */
export function patternOf(output: string): RegExp {
  const parts = output.split(/([\w-]*…|\d+(?:\.\d+)?|\s+)/);
  const pattern = parts.map((part, index) => {
    if (index % 2 === 0) return part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    if (part.endsWith('…')) return '.*?';
    return /^\d/.test(part) ? '\\d+(?:\\.\\d+)?' : '\\s*';
  });
  return new RegExp(pattern.join(''), 's');
}
