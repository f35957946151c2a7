import { type ChildProcess, execFileSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { endInMachine, Machine } from '../binary/machine.ts';
import { blockOf, commandsOf, patternOf } from './page.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const BUILD = join(CHECKOUT, 'build');
/** What a user installs first, and the files that the user was given; read-only. */
const GIVEN = '/opt/scenepress';
const HOME = '/root';
const MARK = '-- ended';
const REPEAT_MS = 500;

/** What differs between a page and this walk. */
export interface Differences {
  /** By the beginning of a line of the page: the line that is run in its place; null: none. */
  instead?: Record<string, string | null>;
  /** Placeholders of the page, with their values. */
  values?: Record<string, string | (() => string)>;
  /** By the beginning of a command: it is repeated until it prints this. */
  until?: Record<string, RegExp>;
}

interface Running {
  child: ChildProcess;
  /** Waits until what it has printed since the last call matches. */
  printed: (pattern: RegExp) => Promise<RegExpExecArray>;
}

/** A shell of somebody who follows a page, on a minimal Debian with Node and what `files` has. */
export class Session {
  readonly #t: Test;
  readonly #machine: Machine;
  readonly #env: Record<string, string>;
  #shell: Running | undefined;

  private constructor(t: Test, machine: Machine, env: Record<string, string>) {
    this.#t = t;
    this.#machine = machine;
    this.#env = env;
  }

  /** `files`: path on this machine → name in the home folder. */
  static async begin(t: Test, files: Record<string, string>, packages: string[] = []): Promise<Session> {
    mkdirSync(BUILD, { recursive: true });
    const given = mkdtempSync(join(BUILD, 'first-hour-'));
    t.teardown(() => rmSync(given, { recursive: true, force: true }));
    chmodSync(given, 0o755);
    for (const [path, name] of Object.entries(files)) {
      mkdirSync(dirname(join(given, 'home', name)), { recursive: true });
      try {
        linkSync(path, join(given, 'home', name));
      } catch {
        copyFileSync(path, join(given, 'home', name));
      }
    }
    putNode(join(given, 'local'));
    const env = putCertificates(given);
    const machine = new Machine({ debian: 'trixie', user: 'root', userNamespaces: true }, given);
    t.teardown(() => machine.stop());
    await machine.start();
    const session = new Session(t, machine, env);
    await session.run(`cp -r ${GIVEN}/local/. /usr/local/ && cp -r ${GIVEN}/home/. ${HOME}/`);
    if (packages.length > 0)
      await session.run(`apt-get -qq update && apt-get -qq install --yes ${packages.join(' ')} > /dev/null`);
    return session;
  }

  /** Runs the commands of a block of a page, in order, and compares their output with what the page shows. */
  async follow(
    page: string,
    containing: string,
    { instead = {}, values = {}, until = {} }: Differences = {},
    then: (output: string, command: string) => void = () => {},
  ): Promise<void> {
    const unused = new Set([...Object.keys(instead), ...Object.keys(values), ...Object.keys(until)]);
    for (const { text, output: shown } of commandsOf(blockOf(page, containing))) {
      let command = text;
      for (const [beginning, other] of Object.entries(instead)) {
        if (!command.startsWith(beginning)) continue;
        unused.delete(beginning);
        command = other ?? '';
      }
      for (const [placeholder, value] of Object.entries(values)) {
        if (!command.includes(placeholder)) continue;
        unused.delete(placeholder);
        command = command.replaceAll(placeholder, typeof value === 'string' ? value : value());
      }
      if (command === '') continue;
      const [beginning, end] = Object.entries(until).find(([start]) => command.startsWith(start)) ?? [];
      if (beginning !== undefined) unused.delete(beginning);
      let output = await this.run(command);
      while (end && !end.test(output)) {
        await delay(REPEAT_MS);
        output = await this.run(command);
      }
      if (shown !== undefined) this.#t.match(output, patternOf(shown), `the output of ${titleOf(command)}`);
      then(output, command);
    }
    this.#t.same([...unused], [], `${page} has every line and placeholder that this walk replaces`);
  }

  /** Runs a command in the shell; returns what it prints. Fails the test when the command fails. */
  async run(command: string): Promise<string> {
    const { output, status } = await this.try(command);
    this.#t.equal(status, 0, titleOf(command));
    return output;
  }

  /** Runs a command in the shell, which may fail. */
  async try(command: string): Promise<{ output: string; status: number }> {
    this.#shell ??= this.#start(['bash']);
    const begun = performance.now();
    this.#shell.child.stdin?.write(`exec 2>&1\n${command}\nprintf '\\n%s %s\\n' '${MARK}' $?\n`);
    const [, printed = '', status] = await this.#shell.printed(/^(.*)\n-- ended (\d+)\n$/s);
    const output = printed.replaceAll('\r', '\n'); // Of progress; the reader of the test's output would stop there.
    this.#t.comment(`$ ${command}\n${output}\n(${Math.round((performance.now() - begun) / 100) / 10} s)`);
    return { output, status: Number(status) };
  }

  /** Starts a command in a shell of its own, until what it prints matches. Returns what it has printed. */
  async serve(command: string, until: RegExp): Promise<{ printed: string; stop: () => Promise<void> }> {
    const { child, printed: wait } = this.#start(['bash', '-c', `exec 2>&1; exec ${command}`]);
    const ended = once(child, 'close');
    const { input: printed } = await wait(until);
    this.#t.comment(`$ ${command}\n${printed}`);
    return {
      printed,
      stop: async () => {
        endInMachine(child);
        await ended;
      },
    };
  }

  #start(command: string[]): Running {
    const env = { HOME, PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...this.#env };
    const child = this.#machine.spawn(['env', '-C', HOME, ...command], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env,
    });
    let text = '';
    let isOver = false;
    const changes = new EventEmitter();
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      changes.emit('change');
    });
    child.once('close', () => {
      isOver = true;
      changes.emit('change');
    });
    const printed = async (pattern: RegExp) => {
      for (;;) {
        const found = pattern.exec(text);
        if (found) {
          text = '';
          return found;
        }
        if (isOver) throw new Error(`It ended: ${text}`);
        await once(changes, 'change');
      }
    };
    return { child, printed };
  }
}

/** Node as this checkout uses it, with the npm of this machine, as in an archive of nodejs.org. */
function putNode(folder: string): void {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  copyFileSync(join(CHECKOUT, 'node_modules/node/bin/node'), join(folder, 'bin/node'));
  const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())));
  cpSync(npm, join(folder, 'lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(folder, 'bin', name));
}

/** Certificate authorities that this machine's environment names, for networks that need them. */
function putCertificates(folder: string): Record<string, string> {
  const names = ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS', 'PIP_CERT'];
  const given = names.filter((name) => existsSync(process.env[name] ?? ''));
  for (const name of given) copyFileSync(process.env[name] as string, join(folder, name));
  return Object.fromEntries(given.map((name) => [name, `${GIVEN}/${name}`]));
}

/** The first line, without the brace at its end that would begin a subtest. */
function titleOf(command: string): string {
  const [first = '', ...more] = command.split('\n');
  return more.length > 0 ? `${first} …` : first;
}
