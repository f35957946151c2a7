import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import t, { type Test } from 'tap';
import { Turns } from '../../appliance/edge/turns.ts';

const REQUEST = 'GET /big HTTP/1.1\r\nHost: x\r\n\r\n';

/** A server that handles requests in turns and leaves the responses to the test. */
async function serving(t: Test) {
  const begun: ServerResponse[] = [];
  const turns = new Turns();
  const server = createServer((request, response) =>
    turns.await(request, response, () => begun.push(response)),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const client = () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    return socket;
  };
  const until = async (done: () => boolean) => {
    while (!done()) await new Promise(setImmediate);
  };
  return { begun, client, until };
}

t.test('pipelined requests are handled one at a time', async (t) => {
  const { begun, client, until } = await serving(t);
  const socket = client();
  let answers = '';
  socket.on('data', (chunk) => {
    answers += chunk;
  });
  socket.write(REQUEST.repeat(50));
  for (let count = 1; count <= 50; count += 1) {
    await until(() => begun.length >= count);
    t.equal(begun.length, count);
    begun[count - 1]?.end(`answer ${count}\n`);
  }
  await until(() => answers.includes('answer 50\n'));
  t.same(
    answers.match(/answer \d+/g),
    Array.from({ length: 50 }, (_, i) => `answer ${i + 1}`),
  );
  socket.write(REQUEST);
  await until(() => begun.length === 51);
});

t.test('a connection with hundreds of pipelined requests is closed, and others are served', async (t) => {
  const { begun, client, until } = await serving(t);
  const socket = client();
  socket.write(REQUEST.repeat(500));
  socket.resume();
  await once(socket, 'close');
  t.equal(begun.length, 1);
  client().write(REQUEST);
  await until(() => begun.length === 2);
});

t.test('requests that wait on a closed connection never start', async (t) => {
  const { begun, client, until } = await serving(t);
  const socket = client();
  socket.write(REQUEST.repeat(3));
  await until(() => begun.length === 1);
  const closed = once(begun[0] as ServerResponse, 'close');
  socket.destroy();
  await closed;
  await new Promise(setImmediate);
  t.equal(begun.length, 1);
});
