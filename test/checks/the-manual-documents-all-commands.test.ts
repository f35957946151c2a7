import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import t from 'tap';
import { exampleLines } from '../../appliance/cli/describe.ts';
import { createProgram } from '../../appliance/cli/program.ts';
import { GENERATED, withGenerated } from '../../scripts/command-reference.ts';

const manual = pageOf('appliance/cli.md');

t.test(
  'commands and options in the manual are up to date; if not, run: node scripts/command-reference.ts',
  async (t) => {
    for (const { file, part, text } of GENERATED) {
      const page = pageOf(file);
      t.equal(withGenerated(page, part, await text()), page, file);
    }
  },
);

t.test(
  'the command reference has a command’s own option that is named like an option of the configuration',
  async (t) => {
    const reference = manual.slice(manual.indexOf('<!-- commands'));
    const entries = reference.replaceAll('\n    ', ' ').split('\n');
    const entryOf = (path: string) => entries.find((entry) => entry.startsWith(`scenepress ${path} `)) ?? '';
    t.match(entryOf('render'), '[-q|--quality <quality>]');
    t.match(entryOf('job list'), '[--quality <quality>]');
    t.match(entryOf('install-service'), '[--data-dir <folder>]');
    t.notMatch(entryOf('serve'), '--data-dir', 'configuration options are in another section');
  },
);

t.test('every command has a description, an example and, if it prints data, --json', async (t) => {
  for (const { path, command } of all(await createProgram())) {
    t.not(command.description(), '', path);
    const examples = exampleLines(command);
    t.ok(
      examples.some((line) => line.includes(path)),
      `${path} has an example`,
    );
    if (command.commands.length > 0 || WITHOUT_JSON.includes(path)) continue;
    t.ok(
      command.options.some(({ long }) => long === '--json'),
      `${path} --json`,
    );
  }
});

/** They run until they are stopped, or their output is meant for another program. */
const WITHOUT_JSON = [
  'scenepress serve',
  'scenepress worker',
  'scenepress mcp',
  'scenepress completion',
  'scenepress install-service',
];

function all(command: Command, above = ''): { path: string; command: Command }[] {
  const path = `${above}${command.name()}`;
  return [{ path, command }, ...command.commands.flatMap((sub) => all(sub, `${path} `))];
}

function pageOf(file: string): string {
  return readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
}
