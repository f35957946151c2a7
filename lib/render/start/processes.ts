import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { Clock } from '../../time/clock.ts';
import type { ZygoteCommandLine } from './launcher.ts';
import { OneConnection } from './one-connection.ts';
import { killSession, killTree } from './stray-processes.ts';

/** A started process, with its standard streams. */
export type RendererProcess = Pick<
  ChildProcessByStdio<Writable, Readable, Readable>,
  'pid' | 'exitCode' | 'signalCode' | 'stdin' | 'stdout' | 'stderr' | 'on'
>;

/** A socket in a folder that accepts one connection. */
export interface AcceptOptions {
  folder: string;
  name: string;
  /** The owner of the socket. */
  uid: number | undefined;
  onConnection: (socket: Duplex) => void;
}

/** Starts and ends renderer processes, and accepts their connections. Injected, so a simulation can replace them. */
export interface Processes {
  /** `entrance`: a descriptor that the process inherits as its fourth. */
  spawn(line: ZygoteCommandLine, entrance?: number): RendererProcess;
  killTree(pid: number, clock: Clock): void;
  killSession(leader: number, clock: Clock): void;
  /** Listens until the connection is made or `close` is called. */
  accept(options: AcceptOptions): Promise<{ close(): void }>;
}

/** The processes of this machine. */
export const systemProcesses: Processes = {
  spawn: ({ command, args, env }, entrance) => {
    const stdio = ['pipe', 'pipe', 'pipe'] as const;
    return spawn(command, args, {
      env,
      // A separate session, so Ctrl-C in the terminal only reaches the service.
      detached: true,
      stdio: entrance === undefined ? [...stdio] : [...stdio, entrance],
    }) as ChildProcessByStdio<Writable, Readable, Readable>;
  },
  killTree,
  killSession,
  accept: (options) => OneConnection.open(options),
};
