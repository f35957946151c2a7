import { Command } from 'commander';
import { addConfigFlags } from './config-flags.ts';

/** A command line, with a comment where its effect isn't obvious. */
export type Example = string | [line: string, comment: string];

const EXAMPLES = new WeakMap<Command, Example[]>();

/** Adds examples to the end of a command's help. */
export function addExamples(command: Command, ...examples: Example[]): Command {
  EXAMPLES.set(command, examples);
  return command.addHelpText('after', () => `\nExamples:\n${exampleLines(command).join('\n')}`);
}

/** The examples of a command as indented lines, with aligned comments. */
export function exampleLines(command: Command): string[] {
  const examples = EXAMPLES.get(command) ?? [];
  const width = Math.max(
    0,
    ...examples.map((example) => (typeof example === 'string' ? 0 : example[0].length)),
  );
  return examples.map((example) =>
    typeof example === 'string' ? `  ${example}` : `  ${example[0].padEnd(width)}  # ${example[1]}`,
  );
}

/** A command that reads or changes a data folder, through the running server or directly. */
export function administrative(name: string, description: string, ...examples: Example[]): Command {
  const command = addConfigFlags(new Command(), 'administration');
  const [word = '', ...operands] = name.split(' ');
  command.name(word).description(description).option('--json', 'print JSON');
  for (const operand of operands) command.argument(operand);
  return addExamples(command, ...examples);
}
