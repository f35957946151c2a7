import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { turn } from '../time/clock.ts';

const SLICE_BYTES = 4 * 1024;

/**
 * A connection that limits the bytes received, below TLS and HTTP: handshakes, empty records, interim responses and
 * trailers count too. Reading stops at `mostBytes`. Passes on one slice per turn of the event loop, so a receiver
 * whose data is expensive to parse does not delay other exchanges.
 */
export class CountedSocket extends Duplex {
  readonly #socket: Socket;
  readonly #onExceeded: () => void;
  #receivedBytes = 0;
  /** Received bytes that have not been passed on. */
  #rest: Buffer = Buffer.alloc(0);
  #isAtEnd = false;
  /** May be raised while reading. */
  mostBytes: number;

  constructor(socket: Socket, { mostBytes, onExceeded }: { mostBytes: number; onExceeded: () => void }) {
    super();
    this.#socket = socket;
    this.#onExceeded = onExceeded;
    this.mostBytes = mostBytes;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.once('end', () => {
      this.#isAtEnd = true;
      if (this.#rest.length === 0) this.push(null);
    });
    // After the end of the stream, buffered data is passed on even if the connection then fails.
    socket.on('error', (error) => {
      if (!this.#isAtEnd) this.destroy(error);
    });
    socket.once('close', () => {
      if (!this.#isAtEnd) this.destroy();
    });
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  #take(chunk: Buffer): void {
    this.#receivedBytes += chunk.length;
    this.#socket.pause();
    if (this.#receivedBytes > this.mostBytes) {
      this.#onExceeded();
      return;
    }
    this.#rest = chunk; // The one before has been passed on: the connection was paused until then.
    this.#passOn();
  }

  /** Passes on one slice; the next follows on demand, in a later turn of the event loop. */
  #passOn(): void {
    const slice = this.#rest.subarray(0, SLICE_BYTES);
    this.#rest = this.#rest.subarray(SLICE_BYTES);
    if (slice.length > 0) this.push(slice);
    else if (this.#isAtEnd) this.push(null);
    else this.#socket.resume();
  }

  override _read(): void {
    void turn().then(() => {
      if (!this.destroyed) this.#passOn();
    });
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, (error) => done(this.#isAtEnd ? null : error));
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
