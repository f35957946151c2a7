import { once } from 'node:events';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { turn } from '../../../lib/time/clock.ts';
import { CountedSocket } from '../../../lib/webhooks/counted-socket.ts';

const KIB = 1024;

/** A connection whose other end the test holds: `received` is what arrives at it. */
function connect(mostBytes = 1024 * KIB) {
  const incoming = new PassThrough();
  const received: Buffer[] = [];
  const socket = Object.assign(incoming, {
    write(chunk: Buffer, done: (error?: Error) => void) {
      received.push(chunk);
      done();
    },
  });
  const send = PassThrough.prototype.push.bind(incoming) as (chunk: Buffer | null) => boolean;
  let exceeded = 0;
  const counted = new CountedSocket(socket as unknown as Socket, { mostBytes, onExceeded: () => exceeded++ });
  return { socket, counted, send, received, exceeded: () => exceeded };
}

t.test('received data is passed on in slices, in order and completely', async (t) => {
  const { counted, send } = connect();
  const slices: Buffer[] = [];
  counted.on('data', (slice: Buffer) => slices.push(slice));
  const ended = once(counted, 'end');
  const sent = Buffer.from(Array.from({ length: 10 * KIB }, (_, index) => index % 251));
  send(sent.subarray(0, 9 * KIB));
  send(sent.subarray(9 * KIB));
  send(null);
  await ended;
  t.ok(slices.every(({ length }) => length <= 4 * KIB));
  t.strictSame(Buffer.concat(slices), sent);
  t.equal(counted.receivedBytes, sent.length);
});

t.test('an end that comes after all data has been read is passed on', async (t) => {
  const { counted, send } = connect();
  let text = '';
  counted.on('data', (slice: Buffer) => {
    text += slice;
  });
  const ended = once(counted, 'end');
  send(Buffer.from('all'));
  for (let turns = 0; turns < 10; turns++) await turn();
  t.equal(text, 'all');
  send(null);
  await ended;
});

t.test('a slice is passed on per turn of the event loop', async (t) => {
  const { counted, send } = connect();
  let sizeBytes = 0;
  counted.on('data', (slice: Buffer) => {
    sizeBytes += slice.length;
  });
  send(Buffer.alloc(64 * KIB));
  await turn();
  t.ok(sizeBytes <= 8 * KIB, `${sizeBytes} bytes in the first turn`);
  while (sizeBytes < 64 * KIB) await turn();
});

t.test('at the limit all is passed on, above it nothing more', async (t) => {
  const { counted, send, exceeded } = connect(5);
  let text = '';
  counted.on('data', (slice: Buffer) => {
    text += slice;
  });
  send(Buffer.from('12345'));
  await turn();
  await turn();
  t.equal(text, '12345');
  t.equal(exceeded(), 0);
  send(Buffer.from('6'));
  await turn();
  await turn();
  t.equal(text, '12345');
  t.equal(exceeded(), 1);
  t.equal(counted.receivedBytes, 6);
});

t.test('the limit may be raised while reading', async (t) => {
  const { counted, send, exceeded } = connect(5);
  counted.resume();
  send(Buffer.from('12345'));
  await turn();
  counted.mostBytes = 6;
  send(Buffer.from('6'));
  await turn();
  await turn();
  t.equal(exceeded(), 0);
});

t.test('written data is sent, and then the end', async (t) => {
  const { counted, received, socket } = connect();
  let hasEnded = false;
  socket.end = ((done: () => void) => {
    hasEnded = true;
    done();
  }) as never;
  counted.write('a');
  counted.end('b');
  await once(counted, 'finish');
  t.equal(Buffer.concat(received).toString(), 'ab');
  t.ok(hasEnded);
});

t.test('an error of the connection, or its close, ends it', async (t) => {
  const failed = connect();
  const error = once(failed.counted, 'error');
  failed.socket.emit('error', new Error('reset'));
  t.match(await error, [{ message: 'reset' }]);
  t.ok(failed.counted.destroyed);

  const closed = connect();
  const close = once(closed.counted, 'close');
  closed.socket.emit('close');
  await close;
  t.ok(closed.counted.destroyed);
});

t.test('received data is still passed on when the connection fails after the end', async (t) => {
  const { counted, send, socket } = connect();
  let sizeBytes = 0;
  counted.on('error', (error) => t.fail(error.message));
  const incoming = once(socket, 'end');
  send(Buffer.alloc(20 * KIB));
  send(null);
  counted.on('data', (slice: Buffer) => {
    sizeBytes += slice.length;
  });
  const ended = once(counted, 'end');
  await incoming;
  socket.emit('error', new Error('reset'));
  socket.emit('close');
  await ended;
  t.equal(sizeBytes, 20 * KIB);
});

t.test('its end ends the connection', async (t) => {
  const { counted, socket } = connect();
  counted.destroy();
  await once(counted, 'close');
  t.ok(socket.destroyed);
});
