import type { SpokenWord } from './speech-types.ts';

/** A text to be said. */
export interface SpeechRequest {
  /** One line of at most 4,000 characters. */
  text: string;
  /** A name of letters, digits and `_.:+-`; null: the scene names none. */
  voice: string | null;
  /** Likewise. */
  language: string | null;
}

/** A text that was said. */
export interface SpokenText {
  /** WAV, MP3 or OGG. */
  audio: Uint8Array;
  /** When its words are said, in their order; default: not known. */
  words?: readonly SpokenWord[];
}

/**
 * Makes the audio of texts. Messages of its errors are logged and not shown to authors. `signal` is aborted when no job
 * waits for the text any more.
 */
export type SpeechFunction = (
  request: SpeechRequest,
  options: { signal: AbortSignal },
) => Promise<SpokenText> | SpokenText;

/**
 * What makes the audio of voiceovers for which a scene has no file: one of `speak`, `command` and `url`. It works outside of
 * the sandbox; scenes choose nothing but texts, voices and languages.
 */
export interface SpeechOptions {
  /** A function. */
  speak?: SpeechFunction;
  /**
   * A program and its arguments, also as one text with quotes. It gets the text on standard input and writes the audio, or
   * JSON, to standard output. `{voice}` and `{language}` in arguments stand for what a scene names; `{voice|en}` has a
   * default. Of a service that is root, it runs as the user id 57999.
   */
  command?: string | readonly string[];
  /** Gets a POST of a {@link SpeechRequest} as JSON, and answers with audio or JSON. */
  url?: string;
  /** Part of the key of kept audio: change it when the voices change. */
  version?: string;
  /** Milliseconds that one text may take. Default 60,000. */
  timeoutMs?: number;
  /** Texts that are said at the same time. Default 2. */
  concurrency?: number;
  /** The most that kept audio takes on the disk. Default 1 GiB; 0: none is kept. */
  cacheBytes?: number;
  /** Where audio is kept. Default: `speech` in the data folder; without one, none is kept. */
  cacheFolder?: string;
}

/** The longest text that is said. */
export const LONGEST_SPEECH = 4000;
/** The largest audio of a text. */
export const MOST_AUDIO_BYTES: number = 16 * 1024 * 1024;
/** What a voice or a language is called: it can't be taken for an option of a command. */
export const VOICE_NAME: RegExp = /^[A-Za-z0-9][A-Za-z0-9_.:+-]{0,99}$/;

const MOST_WORDS = 2000;
const LONGEST_WORD = 200;

/** Words as they were answered, without those that break a rule. */
export function wordsOf(value: unknown): SpokenWord[] {
  const given: unknown[] = Array.isArray(value) ? value.slice(0, MOST_WORDS) : [];
  return given.flatMap((one) => {
    const { text, startSeconds } = (one ?? {}) as Record<string, unknown>;
    const isWord = typeof text === 'string' && typeof startSeconds === 'number' && startSeconds >= 0;
    return isWord ? [{ text: text.slice(0, LONGEST_WORD).toWellFormed(), startSeconds }] : [];
  });
}
