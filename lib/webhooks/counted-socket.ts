import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

const SLICE_BYTES = 4 * 1024;

/**
 * A connection that counts what arrives on it, before TLS or HTTP have seen any of it: handshakes, empty records, interim
 * answers and trailers too. Beyond `mostBytes` nothing more is read. It passes on a little in each turn of the loop: a
 * receiver that sends what is expensive to parse must not delay the exchanges with others.
 */
export class CountedSocket extends Duplex {
  readonly #socket: Socket;
  readonly #onExceeded: () => void;
  #receivedBytes = 0;
  /** What has arrived and is not passed on yet. */
  #rest: Buffer = Buffer.alloc(0);
  #isAtEnd = false;
  /** May be raised while it is read. */
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
    // After its end, what has arrived is still passed on, whatever becomes of the connection.
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
    this.#rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    this.#passOn();
  }

  /** Passes on one slice, and the next when it is asked for, but in another turn of the loop. */
  #passOn(): void {
    const slice = this.#rest.subarray(0, SLICE_BYTES);
    this.#rest = this.#rest.subarray(SLICE_BYTES);
    if (slice.length > 0) this.push(slice);
    else if (this.#isAtEnd) this.push(null);
    else this.#socket.resume();
  }

  override _read(): void {
    setImmediate(() => {
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
