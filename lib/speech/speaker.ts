import { join } from 'node:path';
import { abortable } from '../async/abortable.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { DATA_FILES } from '../files/data-files.ts';
import type { SpeechFunction, SpeechRequest, SpokenText } from '../model/speech.ts';
import type { Clock } from '../time/clock.ts';
import { checkedSpeech } from './audio-answer.ts';
import { KeptAudio } from './kept-audio.ts';
import { speechCommand, wordsOfCommand } from './speech-command.ts';
import { SpeechFailure } from './speech-failure.ts';
import type { ValidSpeech } from './speech-options.ts';
import { speechUrl } from './speech-url.ts';

/** A text that is being said, for those who wait for it. */
interface Making {
  speech: Promise<SpokenText>;
  waiting: number;
  abort: AbortController;
}

interface Parts {
  clock: Clock;
  random: Random;
  logger: Logger;
  /** The data folder, in which audio is kept by default. */
  dataFolder?: string | undefined;
}

/** Says texts: as many at the same time as is allowed, each within its time, and each once while its audio is kept. */
export class Speaker {
  readonly #speak: SpeechFunction;
  /** What says them: audio of another is not the same. */
  readonly #identity: string;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #kept: KeptAudio | undefined;
  readonly #making = new Map<string, Making>();
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(options: ValidSpeech, { clock, random, logger, dataFolder }: Parts) {
    const { speak, command, url, version = '', timeoutMs, concurrency, cacheBytes } = options;
    const folder =
      options.cacheFolder ?? (dataFolder === undefined ? undefined : join(dataFolder, DATA_FILES.speech));
    const words = command === undefined ? undefined : wordsOfCommand(command);
    this.#speak = speak ?? (words ? speechCommand(words) : speechUrl(url ?? ''));
    this.#identity = JSON.stringify([words ?? url ?? 'function', version]);
    this.#timeoutMs = timeoutMs;
    this.#free = concurrency;
    this.#clock = clock;
    this.#logger = logger;
    if (folder !== undefined && cacheBytes > 0)
      this.#kept = new KeptAudio({ folder, mostBytes: cacheBytes, clock, random, logger });
  }

  /**
   * The audio of a text, and how long the text was being said: 0 if it was kept. Errors: {@link SpeechFailure}; the reason
   * of `signal`.
   */
  async say(request: SpeechRequest, signal: AbortSignal): Promise<{ speech: SpokenText; madeInMs: number }> {
    const { text, voice, language } = request;
    const asked = JSON.stringify([this.#identity, text, voice, language]);
    const kept = await this.#kept?.find(asked);
    if (kept) return { speech: kept, madeInMs: 0 };
    const startedMs = this.#clock.uptimeMs();
    const making = this.#making.get(asked) ?? this.#begin(asked, request);
    making.waiting += 1;
    try {
      const speech = await abortable(making.speech, signal);
      return { speech, madeInMs: this.#clock.uptimeMs() - startedMs };
    } finally {
      making.waiting -= 1;
      if (making.waiting === 0) making.abort.abort();
    }
  }

  #begin(asked: string, request: SpeechRequest): Making {
    const abort = new AbortController();
    const speech = this.#inTurn(abort.signal, () => this.#make(request, abort)).then(async (made) => {
      await this.#kept?.keep(asked, made);
      return made;
    });
    const making = { speech, waiting: 0, abort };
    this.#making.set(asked, making);
    const done = () => {
      if (this.#making.get(asked) === making) this.#making.delete(asked);
    };
    // Nobody joins those who have gone.
    abort.signal.addEventListener('abort', done);
    speech.then(done, done);
    return making;
  }

  async #inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => void this.#queue.push(resolve));
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  async #make(request: SpeechRequest, abort: AbortController): Promise<SpokenText> {
    const tooSlow = new SpeechFailure(`it took longer than ${this.#timeoutMs / 1000} seconds`);
    const timer = this.#clock.after(this.#timeoutMs, () => abort.abort(tooSlow));
    const { signal } = abort;
    try {
      return checkedSpeech(await abortable(Promise.resolve(this.#speak(request, { signal })), signal));
    } catch (error) {
      const failure =
        error instanceof SpeechFailure
          ? error
          : new SpeechFailure('the speech service failed', { cause: error });
      if (!signal.aborted || error === tooSlow)
        this.#logger.warn({ err: failure }, 'A text of a scene could not be said.');
      throw failure;
    } finally {
      timer.cancel();
    }
  }
}
