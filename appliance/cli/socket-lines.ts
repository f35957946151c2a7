import type { Socket } from 'node:net';
import { createInterface, type Interface } from 'node:readline';
import { PassThrough } from 'node:stream';

/**
 * The lines that come over a socket. They end when it closes, also by an error: a process that exits with unread
 * messages resets the connection.
 */
export function socketLines(socket: Socket): Interface {
  // An interface that reads the socket itself would emit its errors, too.
  const input = new PassThrough();
  socket.on('error', () => {}).on('close', () => input.end());
  return createInterface({ input: socket.pipe(input) });
}
