import { Agent, request } from 'node:http';

/** What a load of requests took. */
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

/** Sends requests over kept connections, each the next when its answer is there, for some seconds. */
export async function load(
  port: number,
  {
    connections,
    seconds,
    warmUpSeconds = 1,
  }: { connections: number; seconds: number; warmUpSeconds?: number },
  next: () => LoadRequest,
): Promise<LoadReport> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const start = performance.now();
  const from = start + warmUpSeconds * 1000;
  const until = from + seconds * 1000;
  const client = async () => {
    while (performance.now() < until) {
      const sent = performance.now();
      await send(agent, port, next());
      if (sent >= from) times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return { perSecond: times.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}

function send(agent: Agent, port: number, { method, path, headers, body }: LoadRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const message = request({ agent, port, host: '127.0.0.1', method, path, headers }, (response) => {
      const expected = method === 'POST' ? 202 : 200;
      if (response.statusCode !== expected)
        reject(new Error(`${method} ${path} was answered with ${response.statusCode}`));
      response.on('end', resolve).on('error', reject).resume();
    });
    message.on('error', reject).end(body);
  });
}
