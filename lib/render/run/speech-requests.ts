import type { RenderMessage, TaskMessage } from '../../model/render-task.ts';
import type { JobReport, SpeechAnswer } from '../../model/renderer-messages.ts';

type Tell = (message: SpeechAnswer) => void;

/** The texts whose audio the processes of a task's scene have asked for, and who waits for each. */
export class SpeechRequests {
  readonly #send: (message: RenderMessage) => void;
  readonly #waiting = new Map<number, Tell>();
  #count = 0;

  /** `send`: to the service. */
  constructor(send: (message: RenderMessage) => void) {
    this.#send = send;
  }

  /** Passes a report on, if it is a request; `tell`: answers it. */
  take(report: JobReport, tell: Tell): boolean {
    if (report.type !== 'speech') return false;
    const { type: _, ...asked } = report;
    this.#count += 1;
    this.#waiting.set(this.#count, tell);
    this.#send({ type: 'speech', request: this.#count, ...asked });
    return true;
  }

  /** Passes an answer on. */
  answer({ request, audio, words, error }: Extract<TaskMessage, { type: 'spoken' }>): void {
    const tell = this.#waiting.get(request);
    this.#waiting.delete(request);
    tell?.({
      type: 'spoken',
      audio: audio && Buffer.from(audio).toString('base64'),
      words,
      error,
    });
  }
}
