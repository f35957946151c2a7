import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/**
 * A connection that counts what arrives on it, before TLS or HTTP have seen any of it: handshakes, empty records, interim
 * answers and trailers too. Beyond `mostBytes` nothing more is read.
 */
export class CountedSocket extends Duplex {
  readonly #socket: Socket;
  readonly #onExceeded: () => void;
  #receivedBytes = 0;
  /** May be raised while it is read. */
  mostBytes: number;

  constructor(socket: Socket, { mostBytes, onExceeded }: { mostBytes: number; onExceeded: () => void }) {
    super();
    this.#socket = socket;
    this.#onExceeded = onExceeded;
    this.mostBytes = mostBytes;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.once('end', () => this.push(null));
    socket.once('error', (error) => this.destroy(error));
    socket.once('close', () => this.destroy());
  }

  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  #take(chunk: Buffer): void {
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.mostBytes) {
      this.#socket.pause();
      this.#onExceeded();
    } else if (!this.push(chunk)) this.#socket.pause();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
