// The first hour of an administrator: the single executable on a machine with nothing but curl.
import { dirname, join } from 'node:path';
import t from 'tap';
import { machinesUnavailable } from '../binary/network-namespace.ts';
import { singleFile } from './program.ts';
import { Session } from './session.ts';

t.test(
  'an administrator serves renders, backs up and restores',
  { skip: machinesUnavailable() },
  async (t) => {
    const file = singleFile();
    const files = { [file]: 'scenepress', [join(dirname(file), 'scenepress.sha256')]: 'scenepress.sha256' };
    const session = await Session.begin(t, files, ['curl', 'ca-certificates']);

    // Building and copying the file are not part of this walk; the service is started below, to see what it prints.
    await session.follow('appliance/README.md', 'ssh server', {
      instead: {
        'npm run build:binary': null,
        'scp build/scenepress': null,
        'ssh server': null,
        'scenepress serve': null,
      },
    });
    const server = await session.serve('scenepress serve --data-dir /var/lib/scenepress', /JOB_ID -H/);
    const key = /svc_live_\w+/.exec(server.printed)?.[0] ?? '';
    t.match(server.printed, /listens on http:\/\/127\.0\.0\.1:8080/);

    let jobId = '';
    const job = 'curl http://127.0.0.1:8080/api/v2/render/';
    await session.follow(
      'README.md',
      'export KEY=svc_live_…',
      { values: { 'svc_live_…': key, JOB_ID: () => jobId }, until: { [job]: /"completedAt":"/ } },
      (output) => {
        jobId ||= /"jobId":"(\w+)"/.exec(output)?.[1] ?? '';
      },
    );
    t.match(await session.run('head -c 8 video.mp4 | tail -c 4'), 'ftyp');

    await session.follow('appliance/operations.md', 'scenepress backup /backups/monday');
    await server.stop();
    const restored = await session.serve('scenepress serve --data-dir /srv/restored', /dashboard/);
    t.match(
      await session.run(
        `curl -s http://127.0.0.1:8080/api/v2/render/${jobId} -H "Authorization: Bearer $KEY"`,
      ),
      /"completed"/,
    );
    await restored.stop();
  },
);
