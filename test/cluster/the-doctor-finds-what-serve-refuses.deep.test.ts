import t from 'tap';
import type { S3Credentials } from '../../lib/assets/s3/index.ts';
import { s3 } from '../../lib/assets/s3/index.ts';
import { oneOf } from '../fixtures/depth.ts';
import { newSchema, run as query } from '../fixtures/postgres/database.ts';
import { noS3Server, s3Server } from '../fixtures/s3-server/s3-server.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { cluster } from './machines.ts';

interface Finding {
  check: string;
  status: string;
  message: string;
  remedy?: string;
}

const NO_BUCKET = Object.fromEntries(
  ['BUCKET', 'ENDPOINT', 'ACCESS_KEY_ID', 'SECRET_ACCESS_KEY'].map((name) => [`SCENEPRESS_S3_${name}`, '']),
);
const ROLES = ['--roles', 'api,sender,upkeep', '--port', '0'];

t.test('what serve refuses', { skip: noS3Server }, async (t) => {
  const { options } = await s3Server(t);
  const { accessKeyId, secretAccessKey } = options.credentials as S3Credentials;
  const bucket = {
    SCENEPRESS_ARTIFACT_DIR: '',
    SCENEPRESS_S3_BUCKET: options.bucket,
    SCENEPRESS_S3_ENDPOINT: options.endpoint,
    SCENEPRESS_S3_ACCESS_KEY_ID: accessKeyId,
    SCENEPRESS_S3_SECRET_ACCESS_KEY: secretAccessKey,
  };
  const studio = await cluster(t, bucket);
  const doctor = async (env: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await studio.run(['doctor', '--json', ...ROLES], env);
    if (stdout === '') throw new Error(stderr);
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    return { code, findings, failures: findings.filter(({ status }) => status === 'failed') };
  };

  await t.test('an empty database is not filled', async (t) => {
    const { code, findings } = await doctor();
    t.equal(code, 0, JSON.stringify(findings));
    const data = findings.find(({ check }) => check === 'Data');
    t.match(data, {
      status: 'warning',
      message: /contains no installation yet/,
      remedy: /correct --database-url or --database-schema/,
    });
    t.same(await query(`SELECT FROM pg_namespace WHERE nspname = '${studio.schema}'`), []);
    const store = s3(options);
    await store.start();
    t.equal(await store.readClaim(), undefined);
    await store.stop();
  });

  const server = await studio.start('serve', ROLES);
  server.kill('SIGTERM');
  await server.ended;

  t.test('nothing is found, rendered or left where all is well', async (t) => {
    const { code, findings } = await doctor();
    t.equal(code, 0, JSON.stringify(findings));
    t.match(
      findings.find(({ check }) => check === 'Artifacts'),
      { status: 'ok', message: /written, read and deleted/ },
    );
    t.same(
      findings.map(({ check }) => check),
      ['Process', 'Disk', 'Data', 'Books', 'Rights', 'Machines', 'Artifacts', 'Port', 'Clock'],
    );
  });

  const cases: [title: string, env: Record<string, string>, check: string, message: RegExp][] = [
    ['a missing bucket', { SCENEPRESS_S3_BUCKET: 'nosuch' }, 'Artifacts', /Create the bucket/],
    ['a wrong secret', { SCENEPRESS_S3_SECRET_ACCESS_KEY: 'guess' }, 'Artifacts', /S3 answered 403/],
    ['a wrong key id', { SCENEPRESS_S3_ACCESS_KEY_ID: 'nobody' }, 'Artifacts', /not know this access key/],
    ['S3 down', { SCENEPRESS_S3_ENDPOINT: 'http://127.0.0.1:1' }, 'Artifacts', /ECONNREFUSED/],
    ['no place for artifacts', NO_BUCKET, 'Artifacts', /set --s3-bucket/],
    ['no master key', { SCENEPRESS_MASTER_KEY: '' }, 'Master key', /set SCENEPRESS_MASTER_KEY/],
    ['a wrong master key', { SCENEPRESS_MASTER_KEY: '77'.repeat(32) }, 'Data', /is not the one/],
    ['no certificates', { SCENEPRESS_WEBHOOKS_CA: '/nosuch' }, 'Webhooks', /can't be read/],
    ['no database', { SCENEPRESS_DATABASE_URL: 'postgres://127.0.0.1:1/a' }, 'Data', /Start Postgres/],
  ];
  for (const [title, env, check, message] of oneOf(3, cases)) {
    t.test(title, async (t) => {
      const { code, failures } = await doctor(env);
      t.equal(code, 1);
      t.match(failures, [{ check, message, remedy: /./ }]);
      const dataDir = { SCENEPRESS_DATA_DIR: await temporaryFolder(t) };
      const served = await studio.run(['serve', ...ROLES], { ...env, ...dataDir });
      t.match(served, { code: /[12]/, stderr: message });
    });
  }

  t.test('the artifacts of another installation', async (t) => {
    const other = { SCENEPRESS_DATABASE_SCHEMA: newSchema() };
    await studio.run(['account', 'create', 'ada@example.org'], other);
    const { code, failures } = await doctor(other);
    t.equal(code, 1);
    t.match(failures, [{ check: 'Artifacts', message: /belongs to the installation/ }]);
  });
});
