/** A text was not said. The message is the end of a sentence for the author of the scene; the cause is logged. */
export class SpeechFailure extends Error {
  override readonly name = 'SpeechFailure';
}
