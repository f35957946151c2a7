import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

/** A server of a test, at an address of this machine. */
export async function listen(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A service without a tools API, whose jobs complete at once. */
export async function oldService(t: Test): Promise<string> {
  const url: string = await listen(t, (request, response) => {
    const path = request.url ?? '';
    const send = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    const job = { jobId: 'j', status: 'completed', durationMs: 1, error: null, completedAt: '2026' };
    if (path === '/v') response.end('bytes');
    else if (!path.startsWith('/api/v2')) send(404, { error: 'Not Found' });
    else if (request.method === 'POST') send(202, { jobId: 'j', status: 'queued', endpoint: 'render' });
    else send(200, { ...job, result: { video: `${url}/v` } });
  });
  return url;
}
