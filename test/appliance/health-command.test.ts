import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { TestAuthority } from '../fixtures/certificates.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { scenepress } from './command.ts';
import { listeningAppliance } from './listening-appliance.ts';

t.test('health exits with 0 while the server is ready, else with 1 and the reason', async (t) => {
  const { url, service } = await listeningAppliance(t);
  const env = { SCENEPRESS_PORT: new URL(url).port };
  t.match(await scenepress(['health'], { env }), { code: 0, stdout: 'ready\n', stderr: '' });
  const { code, stdout } = await scenepress(['health', '--json', '--host', '0.0.0.0'], { env });
  t.equal(code, 0);
  t.match(JSON.parse(stdout), { status: 'ready', sandbox: 'none', problems: [] });

  await service.stop();
  t.match(await scenepress(['health'], { env }), {
    code: 1,
    stdout: 'not ready\nThe service is not started.\n',
  });
  t.match(await scenepress(['health', '--live'], { env }), { code: 0, stdout: 'live\n' });
});

t.test('health without a server, or with another one at its port', async (t) => {
  const missing = await scenepress(['health', '--port', '1']);
  t.match(missing, {
    code: 1,
    stdout: /^not ready\nhttp:\/\/127\.0\.0\.1:1\/health\/ready does not answer: .*REFUSED/,
  });

  const folder = testFolder(t);
  const { cert, key } = new TestAuthority(folder).issue(['renders.example.org']);
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  await writeFile(files.cert, cert);
  await writeFile(files.key, key);
  const other = createServer({ cert, key }, (_request, response) => {
    response.statusCode = 404;
    response.end();
  });
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const flags = ['--port', String(port), '--tls-cert', files.cert, '--tls-key', files.key];
  t.match(await scenepress(['health', ...flags]), { code: 1, stdout: /https:.* answered 404\.\n$/ });
});
