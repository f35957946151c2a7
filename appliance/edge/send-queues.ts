import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import ipaddr from 'ipaddr.js';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
/** Local address, remote address, state, bytes sent that the peer has not acknowledged: all hexadecimal. */
const ROW = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+:[0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/gm;

/** Bytes in the kernel's send queues, by {@link connectionKey}. */
export type SendQueues = Map<string, number>;

/**
 * Reads the send queues of all TCP connections. While the kernel's buffer is full, which a slow client can cause for
 * minutes, Node can't see how much a client has read; the queue shrinks with every acknowledgement. Empty if /proc
 * isn't available.
 */
export async function readSendQueues(): Promise<SendQueues> {
  const queues: SendQueues = new Map();
  for (const table of TABLES) {
    const text = await readFile(table, 'latin1').catch(() => '');
    for (const [, localPort, remote, bytes] of text.matchAll(ROW)) {
      queues.set(`${localPort} ${remote}`, Number.parseInt(bytes as string, 16));
    }
  }
  return queues;
}

/** The key of a connection in {@link SendQueues}; undefined if it is closed or not TCP. */
export function connectionKey(socket: Socket): string | undefined {
  const { remoteAddress, remotePort, localPort } = socket;
  if (remoteAddress === undefined || remotePort === undefined || localPort === undefined) return undefined;
  if (!ipaddr.isValid(remoteAddress)) return undefined;
  return `${hex16(localPort)} ${hexAddress(ipaddr.parse(remoteAddress))}:${hex16(remotePort)}`;
}

function hex16(number: number): string {
  return number.toString(16).toUpperCase().padStart(4, '0');
}

/** The kernel's notation: 32-bit words in the byte order of the machine. */
function hexAddress(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  const bytes = Buffer.from(address.toByteArray());
  if (endianness() === 'LE') bytes.swap32();
  return bytes.toString('hex').toUpperCase();
}
