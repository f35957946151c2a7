import { OneAtATime } from '../async/one-at-a-time.ts';
import type { SpokenAnswer } from '../model/render-task.ts';
import { LONGEST_SPEECH, type SpeechRequest, type SpokenText, VOICE_NAME } from '../model/speech.ts';
import type { Speaker } from './speaker.ts';
import { SpeechFailure } from './speech-failure.ts';

/** What one render may ask for: a scene must not keep others from being heard. */
const MOST_OF_RENDER = { texts: 200, bytes: 128 * 1024 ** 2, seconds: 600 };

/** Says the texts of one render, one after the other, up to its limits. */
export class SpeechOfRender {
  readonly #speaker: Pick<Speaker, 'say'>;
  readonly #ended = new AbortController();
  readonly #turns = new OneAtATime();
  /** The second drawing of a scene hears what the first one has heard. */
  readonly #said = new Map<string, SpokenText>();
  #texts = 0;
  #bytes = 0;
  #ms = 0;

  constructor(speaker: Pick<Speaker, 'say'>) {
    this.#speaker = speaker;
  }

  /** Never rejects. Answers come in the order of the calls. */
  answer(request: SpeechRequest): Promise<SpokenAnswer> {
    return this.#turns.run(async () => {
      try {
        const { audio, words = [] } = await this.#say(request);
        return { audio, words: [...words], error: null };
      } catch (error) {
        const message = error instanceof SpeechFailure ? error.message : 'the render has ended';
        return { audio: null, words: [], error: message };
      }
    });
  }

  /** Ends what is being said for it. */
  end(): void {
    this.#ended.abort();
  }

  async #say(request: SpeechRequest): Promise<SpokenText> {
    const { text, voice, language } = request;
    if (text === '' || text.length > LONGEST_SPEECH)
      throw new SpeechFailure(`it does not have 1 to ${LONGEST_SPEECH} characters`);
    if ([voice, language].some((name) => name !== null && !VOICE_NAME.test(name)))
      throw new SpeechFailure('voice or language is not a name');
    const key = JSON.stringify([text, voice, language]);
    const said = this.#said.get(key);
    if (said) return said;
    this.#texts += 1;
    if (this.#texts > MOST_OF_RENDER.texts)
      throw new SpeechFailure(`a render has at most ${MOST_OF_RENDER.texts} texts without files`);
    if (this.#ms > MOST_OF_RENDER.seconds * 1000)
      throw new SpeechFailure(`the texts of this render took more than ${MOST_OF_RENDER.seconds} seconds`);
    const { speech, madeInMs } = await this.#speaker.say(request, this.#ended.signal);
    this.#ms += madeInMs;
    this.#bytes += speech.audio.length;
    if (this.#bytes > MOST_OF_RENDER.bytes)
      throw new SpeechFailure(
        `the audio of this render is larger than ${MOST_OF_RENDER.bytes / 1024 ** 2} MiB`,
      );
    this.#said.set(key, speech);
    return speech;
  }
}
