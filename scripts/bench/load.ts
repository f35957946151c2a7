import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Results of a load. */
export interface LoadReport {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface LoadOptions {
  connections: number;
  seconds: number;
  warmUpSeconds?: number;
}

/**
 * Sends requests over persistent connections for some seconds, each when the previous one is answered. Uses plain
 * sockets, because Node's HTTP client takes as long per request as a server, which would distort the results.
 */
export async function load(
  port: number,
  { connections, seconds, warmUpSeconds = 1 }: LoadOptions,
  next: () => LoadRequest,
): Promise<LoadReport> {
  const start = performance.now() + warmUpSeconds * 1000;
  return measured({ connections, from: start, until: start + seconds * 1000 }, async () => {
    const connection = await Connection.open(port);
    return { call: () => connection.send(next()), close: () => connection.close() };
  });
}

/** Repeats a task sequentially on each of several lines, for some time. */
export async function measured(
  { connections, from, until }: { connections: number; from: number; until: number },
  open: () => Promise<{ call: () => Promise<unknown>; close: () => void }>,
): Promise<LoadReport> {
  const times: number[] = [];
  const line = async () => {
    const { call, close } = await open();
    while (performance.now() < until) {
      const begun = performance.now();
      await call();
      if (begun >= from) times.push(performance.now() - begun);
    }
    close();
  };
  await Promise.all(Array.from({ length: connections }, line));
  times.sort((a, b) => a - b);
  const at = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return { perSecond: times.length / ((until - from) / 1000), p50Ms: at(0.5), p99Ms: at(0.99) };
}

const HEAD_END = '\r\n\r\n';

class Connection {
  readonly #socket: Socket;
  #received = '';
  #answered: ((status: number) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#take(text));
    socket.on('error', (error) => this.#failed?.(error));
    socket.on('close', () => this.#failed?.(new Error('the server closed the connection')));
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new Connection(socket);
  }

  async send({ method, path, headers, body = '' }: LoadRequest): Promise<void> {
    const lines = Object.entries({ host: 'localhost', ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    const status = await new Promise<number>((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    });
    const expected = method === 'POST' ? 202 : 200;
    if (status !== expected) throw new Error(`${method} ${path} was answered with ${status}`);
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1]);
    if (this.#received.length < headEnd + HEAD_END.length + length) return;
    const status = Number(this.#received.slice(9, 12));
    this.#received = '';
    this.#answered?.(status);
  }
}
