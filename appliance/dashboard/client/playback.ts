import type { Editor } from './editor.ts';

/** The video of the result: keeps its place over renders, and marks the line of the play that it shows. */
export class Playback {
  readonly #result: HTMLElement;
  readonly #editor: Editor;
  /** The place in the previous video, in seconds; undefined when there is none. */
  #placeS: number | undefined;
  /** Whether a render was begun here, so that its video is played. */
  #isAwaited = false;

  constructor(result: HTMLElement, editor: Editor) {
    this.#result = result;
    this.#editor = editor;
    result.addEventListener('replaced', () => this.#replaced());
    this.#listen();
  }

  /** Called when a render begins: the next video continues at the place of this one. */
  keepPlace(): void {
    const video = this.#video;
    if (video) this.#placeS = video.ended ? undefined : video.currentTime;
    this.#isAwaited = true;
  }

  forgetPlace(): void {
    this.#placeS = undefined;
    this.#isAwaited = false;
  }

  get #video(): HTMLVideoElement | null {
    return this.#result.querySelector('video');
  }

  #replaced(): void {
    const video = this.#video;
    this.#editor.showPlayedLine(undefined);
    if (!video) return;
    this.#listen();
    if (!this.#isAwaited) return;
    this.#isAwaited = false;
    const placeS = this.#placeS;
    video.addEventListener(
      'loadedmetadata',
      () => {
        if (placeS !== undefined && placeS < video.duration) video.currentTime = placeS;
        if (!matchMedia('(prefers-reduced-motion: reduce)').matches) void video.play().catch(() => {});
      },
      { once: true },
    );
  }

  #listen(): void {
    this.#video?.addEventListener('play-line', (event) => {
      // An event without a detail has null.
      this.#editor.showPlayedLine((event as CustomEvent<number | null>).detail ?? undefined);
    });
  }
}
