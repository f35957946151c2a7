import { parseObject } from '../base/line-reader.ts';
import { hasBeginning } from '../model/file-kinds.ts';
import { MOST_AUDIO_BYTES, type SpokenText, wordsOf } from '../model/speech.ts';
import { SpeechFailure } from './speech-failure.ts';

/** The largest answer: audio in base64, with the times of its words. */
export const MOST_ANSWER_BYTES: number = 24 * 1024 * 1024;

const FORMATS = ['wav', 'mp3', 'ogg'];
const WAV_SIZES = { riff: 4, firstChunk: 12, header: 8 };

/** What a command or a server has answered: audio, or JSON with `audio` in base64 and `words`. */
export function spokenIn(answer: Buffer): SpokenText {
  if (answer[0] !== '{'.charCodeAt(0)) return checkedSpeech({ audio: answer });
  const { audio, words } = parseObject(answer.toString('utf8')) ?? {};
  if (typeof audio !== 'string') throw new SpeechFailure('the speech service answered JSON without audio');
  return checkedSpeech({ audio: Buffer.from(audio, 'base64'), words: wordsOf(words) });
}

/** Error: {@link SpeechFailure} if it is no audio, or too much. */
export function checkedSpeech({ audio, words }: SpokenText): SpokenText {
  if (!(audio instanceof Uint8Array) || !FORMATS.some((format) => hasBeginning(format, audio)))
    throw new SpeechFailure('the speech service answered with something else than WAV, MP3 or OGG');
  if (audio.length > MOST_AUDIO_BYTES)
    throw new SpeechFailure(`its audio is larger than ${MOST_AUDIO_BYTES / 1024 ** 2} MiB`);
  return { audio: hasBeginning('wav', audio) ? withSizes(audio) : audio, words: wordsOf(words) };
}

/** A WAV that was written to a pipe does not know its sizes: they are written into a copy. */
function withSizes(audio: Uint8Array): Uint8Array {
  const wav = Buffer.from(audio);
  wav.writeUInt32LE(wav.length - WAV_SIZES.header, WAV_SIZES.riff);
  for (let at = WAV_SIZES.firstChunk; at + WAV_SIZES.header <= wav.length; ) {
    const size = wav.readUInt32LE(at + 4);
    const left = wav.length - at - WAV_SIZES.header;
    if (wav.toString('latin1', at, at + 4) === 'data') {
      if (size === 0 || size > left) wav.writeUInt32LE(left, at + 4);
      break;
    }
    at += WAV_SIZES.header + size + (size % 2);
  }
  return wav;
}
