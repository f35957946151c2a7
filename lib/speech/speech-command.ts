import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { ScenepressError } from '../base/errors.ts';
import type { SpeechFunction, SpeechRequest } from '../model/speech.ts';
import { MOST_ANSWER_BYTES, spokenIn } from './audio-answer.ts';
import { SpeechFailure } from './speech-failure.ts';

/** Instead of root; renders have the ids above it. */
const UNPRIVILEGED_ID = 57_999;
/** What is logged of its errors. */
const MOST_COMPLAINT = 2000;
const SETTINGS = /^(SCENEPRESS_|AWS_|PG|OTEL_)/;
const PLACEHOLDER = /\{(voice|language)(?:\|([^{}]*))?\}/g;
const WORD = /(?:[^\s"']+|"[^"]*"|'[^']*')+/g;

/** The words of a command: quotes keep spaces. Error: `invalid_request`. */
export function wordsOfCommand(command: string | readonly string[]): string[] {
  const words =
    typeof command === 'string'
      ? [...command.matchAll(WORD)].map(([word]) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'))
      : [...command];
  if (!words[0] || words.some((word) => word.includes('\0')))
    throw new ScenepressError('invalid_request', 'The command of speech names a program.');
  return words;
}

/** A function that runs a program for each text, without a shell. */
export function speechCommand(command: readonly string[]): SpeechFunction {
  return async (request, { signal }) => {
    const [program = '', ...args] = command.map((word) => filled(word, request));
    const isRoot = process.getuid?.() === 0;
    const child = spawn(program, args, {
      cwd: tmpdir(),
      env: environment(isRoot),
      // A process group, which can be ended as a whole.
      detached: true,
      ...(isRoot && { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID }),
    });
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    };
    signal.addEventListener('abort', kill);
    let isTooMuch = false;
    let complaint = '';
    let bytes = 0;
    const pieces: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= MOST_ANSWER_BYTES) pieces.push(piece);
      else {
        isTooMuch = true;
        kill();
      }
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = `${complaint}${text}`.slice(0, MOST_COMPLAINT);
    });
    // One that does not read its input fails by what it answers.
    child.stdin.on('error', () => {});
    child.stdin.end(`${request.text}\n`);
    try {
      if (signal.aborted) kill();
      const [status, killedBy] = (await once(child, 'close')) as [number | null, string | null];
      signal.throwIfAborted();
      if (isTooMuch) throw new SpeechFailure('its audio is too large');
      if (status !== 0)
        throw new SpeechFailure(`the speech command ended with ${killedBy ?? `exit code ${status}`}`, {
          cause: new Error(complaint.trim() || 'It printed no error.'),
        });
      return spokenIn(Buffer.concat(pieces));
    } catch (cause) {
      if (cause instanceof SpeechFailure || signal.aborted) throw cause;
      throw new SpeechFailure('the speech command could not be started', { cause });
    } finally {
      signal.removeEventListener('abort', kill);
      kill(); // What it has started.
    }
  };
}

function filled(word: string, request: SpeechRequest): string {
  return word.replaceAll(
    PLACEHOLDER,
    (_, name: 'voice' | 'language', otherwise = '') => request[name] ?? otherwise,
  );
}

/** Without what configures the service, its database, artifacts and traces, which may be secret. */
function environment(isRoot: boolean): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !SETTINGS.test(name));
  return { ...Object.fromEntries(kept), ...(isRoot && { HOME: tmpdir() }) };
}
