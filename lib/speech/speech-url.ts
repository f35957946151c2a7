import type { SpeechFunction } from '../model/speech.ts';
import { MOST_ANSWER_BYTES, spokenIn } from './audio-answer.ts';
import { SpeechFailure } from './speech-failure.ts';

/** A function that asks a server for each text. Redirects are not followed. */
export function speechUrl(url: string): SpeechFunction {
  return async (request, { signal }) => {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'audio/*, application/json' },
        body: JSON.stringify(request),
        redirect: 'error',
        signal,
      });
      if (!response.ok)
        throw new SpeechFailure(`the speech service answered with the status ${response.status}`);
      const pieces: Uint8Array[] = [];
      let bytes = 0;
      for await (const piece of response.body ?? []) {
        bytes += piece.length;
        if (bytes > MOST_ANSWER_BYTES) throw new SpeechFailure('its audio is too large');
        pieces.push(piece);
      }
      return spokenIn(Buffer.concat(pieces));
    } catch (cause) {
      if (cause instanceof SpeechFailure || signal.aborted) throw cause;
      throw new SpeechFailure('the speech service could not be reached', { cause });
    }
  };
}
