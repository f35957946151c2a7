import type { Command } from 'commander';
import t from 'tap';
import { createProgram } from '../../appliance/cli/program.ts';
import { OUTPUTS, schemaOf } from '../../appliance/cli/schemas/outputs.ts';
import { scenepress } from './command.ts';

/** The words of all commands with `--json`. */
function withJson(command: Command, above: string[] = []): string[] {
  const own = command.options.some(({ long }) => long === '--json') ? [above.join(' ')] : [];
  return [...own, ...command.commands.flatMap((sub) => withJson(sub, [...above, sub.name()]))];
}

/** Says which objects of a schema permit members that it doesn't name. */
function openObjects(schema: unknown, at = '$'): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, additionalProperties } = schema as Record<string, unknown>;
  const isOpen = [type].flat().includes('object') && additionalProperties !== false;
  const parts = Object.entries(schema).flatMap(([name, part]) => openObjects(part, `${at}.${name}`));
  return isOpen ? [at, ...parts] : parts;
}

/** Their formats are others' or, of schemas, any. */
const OTHER_FORMATS = ['metrics dashboard', 'openapi', 'schema'];

t.test('every command with --json has a schema, and no other has', async (t) => {
  t.strictSame([...OUTPUTS.keys()].sort(), withJson(await createProgram()).sort());
});

t.test('schemas permit no members that they do not name', async (t) => {
  for (const command of OUTPUTS.keys()) {
    const open = openObjects(schemaOf(command));
    if (OTHER_FORMATS.includes(command)) t.not(open.length, 0, command);
    else t.strictSame(open, [], command);
  }
});

t.test('schema prints the schema of a command', async (t) => {
  const { code, stdout } = await scenepress(['schema', 'account', 'list', '--json']);
  t.equal(code, 0);
  t.match(JSON.parse(stdout), {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'scenepress account list --json',
    type: 'array',
    items: {
      required: [
        ...[
          'createdAt',
          'disabledAt',
          'email',
          'hasPassword',
          'hasTwoFactor',
          'identity',
          'maxFilesMb',
          'maxQueued',
          'maxScenes',
          'recoveryCodes',
          'role',
          'userId',
        ],
      ],
      properties: { role: { enum: ['admin', 'member'] }, disabledAt: { type: ['string', 'null'] } },
      additionalProperties: false,
    },
  });
});

t.test('without a command, schema lists the commands that have one', async (t) => {
  t.strictSame((await scenepress(['schema'])).stdout.trim().split('\n'), [...OUTPUTS.keys()]);
  t.strictSame(JSON.parse((await scenepress(['schema', '--json'])).stdout), [...OUTPUTS.keys()]);
});

t.test('an unknown command is incorrect usage, and the nearest is named', async (t) => {
  const near = await scenepress(['schema', 'acount', 'lst']);
  t.match(near, {
    code: 2,
    stdout: '',
    stderr: /no schema of the command acount lst. Did you mean account list\?/,
  });
  t.match(await scenepress(['schema', 'queue']), {
    code: 2,
    stderr: /queue show, queue pause, queue resume/,
  });
  t.match(await scenepress(['schema', 'completion']), { code: 2, stderr: /`scenepress schema` lists/ });
});
