// Runs a fast receiver and one that accepts connections but never responds: `webhook-receiver.ts KEY CERT`. Prints
// their ports, and then, for each line of input, the number of received deliveries.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net';
import { createInterface } from 'node:readline';

const [key, cert] = process.argv.slice(2).map((path) => readFileSync(path));
let count = 0;
const quick = createHttps({ key, cert }, (request, response) => {
  request.resume().once('end', () => {
    count += 1;
    response.end();
  });
});
const mute = createTcp((socket) => socket.on('error', () => {}));
for (const server of [quick, mute] as Server[]) {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
  await once(server, 'listening');
}
const portOf = (server: Server) => (server.address() as AddressInfo).port;
console.log(`${portOf(quick)} ${portOf(mute)}`);
for await (const _ of createInterface({ input: process.stdin })) console.log(count);
process.exit();
