import type { Command } from 'commander';
import { UserError } from '../support/user-error.ts';

/** The address of a service, and the key for it. */
export interface Server {
  url: string;
  key: string;
  /** Where its files may be, besides `url`. */
  artifacts: string[];
}

/** The flags of commands that can use a service elsewhere. */
export interface ServerFlags {
  /** The address of the service. */
  server?: string;
  key?: string;
  /** Addresses of its files. */
  artifacts?: string[];
}

/** Adds `--server` and what belongs to it. `does`: what the service does instead of this machine. */
export function addServerFlags(
  command: Command,
  { does, hasFiles = true }: { does: string; hasFiles?: boolean },
): Command {
  command
    .option('--server <url>', `${does} by a service elsewhere, with an API key of it`)
    .option('--key <key>', 'API key for --server (SCENEPRESS_KEY)');
  if (!hasFiles) return command;
  return command.option(
    '--artifacts <url>',
    'where a service has its files, if that is not the address of --server; may be repeated',
    (url: string, others: string[] = []) => [...others, url],
  );
}

/** The service to use; undefined: this machine. Error: for an address or a key that can't be used. */
export function serverOf(flags: ServerFlags): Server | undefined {
  const { server, artifacts = [] } = flags;
  if (server === undefined) {
    if (artifacts.length > 0) throw wrong('--artifacts is for calls with --server.');
    return undefined;
  }
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol))
    throw wrong('--server is the address of a service, such as https://renders.example.org.');
  const other = artifacts.find((address) => !URL.canParse(address));
  if (other !== undefined)
    throw wrong(`--artifacts is an address, such as https://files.example.org, not ${other}.`);
  const key = flags.key ?? process.env['SCENEPRESS_KEY'];
  if (key === undefined) throw wrong('Name an API key of the service: --key KEY, or SCENEPRESS_KEY.');
  return { url: server, key, artifacts };
}

/** Error: for a flag with a value that a service has no field for. `given`: the values by flag. */
export function refuseWithServer(given: Record<string, unknown>): void {
  const unknown = Object.entries(given).find(([, value]) => value !== undefined);
  if (!unknown) return;
  throw wrong(`A service has no ${unknown[0]}: it works without --server only. Leave out one of the two.`);
}

function wrong(message: string): UserError {
  return new UserError(message, { exitCode: 2 });
}
