import type { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';

/** Serves a client over standard input and output. Resolves when it has left, or when the signal is aborted. */
export async function serveOnStdio(
  create: () => McpServer,
  { signal, onError }: { signal: AbortSignal; onError: (error: Error) => void },
): Promise<void> {
  const transport = new StdioServerTransport();
  const handle = serveStdio(create, { transport, maxSubscriptions: 0, onerror: onError });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    resolve();
  };
  signal.addEventListener('abort', () => resolve(), { once: true });
  await closed;
  await handle.close();
}
