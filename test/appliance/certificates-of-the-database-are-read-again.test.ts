import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import t from 'tap';
import { connectionOf } from '../../appliance/place/database-connection.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { PostgresServer } from '../fixtures/postgres/server.ts';
import { testFolder } from '../fixtures/test-folder.ts';

t.test('a replaced client certificate is used by the next connection', async (t) => {
  const folder = testFolder(t);
  const authority = new TestAuthority(folder);
  const server = await PostgresServer.start({ tls: { ...authority.issue(['localhost']), ca: authority.ca } });
  t.teardown(() => server.remove());
  const files = { cert: join(folder, 'client.pem'), key: join(folder, 'client.key') };
  const issue = () => {
    const { cert, key } = authority.issue(['client']);
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
  };
  issue();
  const { url, options } = await connectionOf({
    roles: ['api'],
    databaseSchema: 'scenepress',
    databaseConnections: 2,
    databaseUrl: server.url.replace('127.0.0.1', 'localhost'),
    databaseCa: authority.caFile,
    databaseCert: files.cert,
    databaseKey: files.key,
  });
  const pool = new pg.Pool({ connectionString: url, ssl: options.tls as object, max: 1, maxUses: 1 });
  pool.on('error', () => {}); // An idle connection ends with the server.
  const serial = async () => {
    const { rows } = await pool.query(
      'SELECT client_serial::int AS serial FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
    );
    return (rows[0] as { serial: number }).serial;
  };
  t.equal(await serial(), 2);
  issue();
  t.equal(await serial(), 3);
  rmSync(files.cert);
  rmSync(files.key);
  t.equal(await serial(), 3, 'while there is none, the last one is used');
  await pool.end();
});
