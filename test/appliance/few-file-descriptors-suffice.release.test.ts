import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { openSocket } from '../fixtures/raw-http.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { serve } from './command.ts';
import { guardedListener, openConnections, statusOn } from './guarded-listener.ts';
import { send } from './listening-appliance.ts';

const PYTHON = join(import.meta.dirname, '..', 'fixtures', 'instant-renderer', 'bin', 'python');
const DESCRIPTORS = 160;
const FEW_DESCRIPTORS = ['sh', '-c', `ulimit -n ${DESCRIPTORS}; exec "$@"`, 'sh'];

t.test(
  'artifacts are served while clients open more connections than there are file descriptors',
  async (t) => {
    const { port, pid, stdout, stderr } = await serve(t, ['--data-dir', await temporaryFolder(t)], {
      env: { SCENEPRESS_PYTHON: PYTHON },
      launcher: FEW_DESCRIPTORS,
    });
    const key = /svc_live_[0-9a-f]{48}/.exec(stdout())?.[0];
    const headers = { authorization: `Bearer ${key}` };
    const body = JSON.stringify({ code: 'large', className: 'Scene1' });
    const { json } = await send(port, '/api/v2/render', { method: 'POST', headers, body });
    let job: Record<string, unknown> = {};
    while (job['status'] !== 'completed') {
      await delay(20);
      job = (await send(port, `/api/v2/render/${json['jobId']}`, { headers })).json;
    }
    const artifact = new URL((job['result'] as { video: string }).video).pathname;

    const sockets: Socket[] = [];
    t.teardown(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (let count = 0; count < 2 * DESCRIPTORS; count += 1) {
      const socket = await openSocket({ port, from: `127.0.0.${2 + (count % 4)}` });
      sockets.push(socket.on('error', () => {}).pause());
      if (count % 2 === 0) socket.write(`GET ${artifact} HTTP/1.1\r\nHost: x\r\n\r\n`);
    }
    for (let count = 0; count < 20; count += 1) {
      const { status, bytes } = await send(port, artifact, {});
      t.equal(status, 200);
      t.ok(bytes.length > 1024 * 1024);
    }
    t.ok(readdirSync(`/proc/${pid}/fd`).length < DESCRIPTORS);
    t.notMatch(stderr(), /EMFILE|"level":50/);
  },
);

t.test('a configured cap above the limit of open files is lowered with a warning', async (t) => {
  const { stderr } = await serve(t, ['--data-dir', await temporaryFolder(t), '--max-connections', '5000'], {
    launcher: FEW_DESCRIPTORS,
  });
  t.match(stderr(), /"total":40,"msg":"The limit of open files/);
});

t.test('an accept that fails with EMFILE closes idle connections, not the service', async (t) => {
  const { open, connections, listener } = await guardedListener(t);
  const silent = await open('127.0.0.3');
  const closed = once(silent.resume(), 'end');
  await openConnections(connections, 1);
  listener.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE', syscall: 'accept' }));
  await closed;
  t.equal(await statusOn(await open()), '200');
});
