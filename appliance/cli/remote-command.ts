import { Command } from 'commander';
import type { ScenepressClient } from '../../lib/client/index.ts';
import { addExamples, type Example } from './describe.ts';
import { RemoteService, type RemoteServiceOptions } from './remote-service.ts';
import { type ServerFlags, serverOf } from './server-flags.ts';

/** The service on this machine, if no other is named. */
const HERE = 'http://127.0.0.1:8080';

/** A command that calls a service. `name`: with its operands. */
export function remoteCommand(name: string, description: string, ...examples: Example[]): Command {
  const [word = '', ...operands] = name.split(' ');
  const command = new Command(word).description(description).option('--json', 'print JSON');
  for (const operand of operands) command.argument(operand);
  command
    .option('--server <url>', `address of the service (default: ${HERE})`)
    .option('--key <key>', 'API key of the account (SCENEPRESS_KEY)');
  return addExamples(command, ...examples);
}

/** Calls the service of a command's flags. Error: `UserError` that says what to do. */
export function callService<T>(
  flags: ServerFlags,
  options: RemoteServiceOptions,
  work: (client: ScenepressClient, signal: AbortSignal, url: string) => Promise<T>,
): Promise<T> {
  const server = serverOf({ server: HERE, ...flags });
  if (!server) throw new Error('a service is always named');
  const service = new RemoteService(server, options);
  return service.call(({ client, signal }) => work(client, signal, service.url));
}
