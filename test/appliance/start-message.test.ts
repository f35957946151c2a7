import t from 'tap';
import type { MachineInfo } from '../../appliance/admin/service-views.ts';
import { drainText } from '../../appliance/cli/machine.ts';
import { startMessage } from '../../appliance/cli/start-message.ts';
import { loadConfig } from '../../appliance/config/config.ts';

function messageOf(flags: Record<string, unknown>, queuePausedAt: string | null = null): string {
  const config = loadConfig({ flags, env: {} });
  return startMessage({ config, url: 'http://127.0.0.1:8080', dataDir: '/srv/data', queuePausedAt });
}

t.test('the address, the public URL, and what is missing for connections from the network', async (t) => {
  const local = messageOf({});
  t.match(local, /listens on http:\/\/127\.0\.0\.1:8080\n/);
  t.match(local, /set SCENEPRESS_HOST=0\.0\.0\.0 and\nSCENEPRESS_PUBLIC_URL/);
  const published = messageOf({ publicUrl: 'https://render.example.org' });
  t.match(published, /listens on http:\/\/127\.0\.0\.1:8080\nPublic URL: https:\/\/render\.example\.org\n/);
  t.match(published, /set SCENEPRESS_HOST=0\.0\.0\.0\.\n/);
  t.notMatch(published, /SCENEPRESS_PUBLIC_URL/);
  t.notMatch(messageOf({ host: '0.0.0.0' }), /Only this machine/);
});

t.test('the command that resumes the queue finds the data', async (t) => {
  const pausedAt = '2026-11-26T10:00:00.000Z';
  t.match(messageOf({}, pausedAt), / scenepress queue resume --data-dir \/srv\/data\n/);
  const database = { databaseUrl: 'postgres://scenepress@db/studio', databaseSchema: 'other' };
  t.match(
    messageOf(database, pausedAt),
    / scenepress queue resume --database-url postgres:\/\/scenepress@db\/studio --database-schema other\n/,
  );
});

t.test('a drained machine ends after its renders', async (t) => {
  const text = (busyWorkers: number) =>
    drainText({ name: 'render-1', machineId: '0a', busyWorkers } as MachineInfo);
  t.equal(text(0), 'render-1 (0a) renders nothing and ends now.');
  t.equal(text(1), 'render-1 (0a) ends when its 1 running render has ended.');
  t.equal(text(2), 'render-1 (0a) ends when its 2 running renders have ended.');
});
