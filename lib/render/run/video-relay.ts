import type { Duplex } from 'node:stream';

/** Passes the video of a render to its inspection while both run. A render that sends too fast waits. */
export class VideoRelay {
  #render: Duplex | undefined;
  #inspection: Duplex | undefined;
  #hasEnded = false;
  #isRefused = false;

  /** Everything that the render will ever send was passed on: all processes that could send have closed their end. */
  get isSent(): boolean {
    return this.#hasEnded && this.#inspection !== undefined;
  }

  /** The inspection has closed its end before the render has sent everything. */
  get isRefused(): boolean {
    return this.#isRefused && !this.#hasEnded;
  }

  /** Takes the connection of the render. */
  readonly from = (socket: Duplex): void => {
    this.#render = socket;
    socket.on('error', () => {}); // A reset is a normal end: the peer dies with its job.
    const end = () => {
      if (this.#isRefused) return;
      this.#hasEnded = true;
      this.#inspection?.end();
    };
    socket.on('end', end); // Emitted when everything was read; immediately if there was nothing.
    socket.on('close', end);
    this.#join();
  };

  /** Accepts the inspector's connection. */
  readonly to = (socket: Duplex): void => {
    this.#inspection = socket;
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#isRefused = true;
      this.#render?.destroy(); // Otherwise it would wait forever.
    });
    this.#join();
  };

  close(): void {
    this.#render?.destroy();
    this.#inspection?.destroy();
  }

  #join(): void {
    const [render, inspection] = [this.#render, this.#inspection];
    if (!render || !inspection) return;
    if (this.#hasEnded) inspection.end();
    else render.pipe(inspection, { end: false });
  }
}
