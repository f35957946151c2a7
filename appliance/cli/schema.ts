import { Command } from 'commander';
import { nearestOf } from '../../lib/internal.ts';
import { UserError } from '../support/user-error.ts';
import { addExamples } from './describe.ts';
import { print, printJson } from './output.ts';

/** `scenepress schema [COMMAND…]` */
export function schemaCommand(): Command {
  const command = new Command('schema')
    .description(
      'Print the JSON Schema of what a command prints with --json, or list the commands that have one',
    )
    .argument('[command...]', 'the words of a command, such as: account list')
    .option('--json', 'print JSON; a schema always is')
    .action(async (words: string[], { json }: { json?: boolean }) => {
      const { OUTPUTS, schemaOf } = await import('./schemas/outputs.ts');
      const commands = [...OUTPUTS.keys()];
      if (words.length > 0) {
        const schema = schemaOf(words.join(' '));
        if (!schema) throw unknown(words.join(' '), commands);
        printJson(schema);
      } else if (json) printJson(commands);
      else print(commands.join('\n'));
    });
  return addExamples(
    command,
    ['scenepress schema', 'list the commands with --json'],
    'scenepress schema check > check.schema.json',
    'scenepress schema account list',
  );
}

/** Names the nearest command, or those of a group such as `account`. */
function unknown(given: string, commands: string[]): UserError {
  const group = commands.filter((command) => command.startsWith(`${given} `));
  const nearest = nearestOf(given, commands);
  const advice =
    group.length > 0
      ? `Name one of its commands: ${group.join(', ')}.`
      : nearest === undefined
        ? '`scenepress schema` lists those that have one.'
        : `Did you mean ${nearest}?`;
  return new UserError(`There is no schema of the command ${given}. ${advice}`, { exitCode: 2 });
}
