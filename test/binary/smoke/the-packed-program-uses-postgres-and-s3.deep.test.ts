import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import t from 'tap';
import type { S3Credentials } from '../../../lib/assets/s3/index.ts';
import { ScenepressClient } from '../../../lib/client/index.ts';
import { MAIN } from '../../appliance/command.ts';
import { otlpReceiver } from '../../fixtures/otlp-receiver.ts';
import { newSchema, serverUrl } from '../../fixtures/postgres/database.ts';
import { noS3Server, s3Server } from '../../fixtures/s3-server/s3-server.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { buildProgram, machinesUnavailable } from '../network-namespace.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python');
const run = promisify(execFile);
const skip = machinesUnavailable() || noS3Server;

t.test(
  'the drivers of Postgres and S3, and the SDK of OpenTelemetry, are in the executable',
  { skip },
  async (t) => {
    const program = buildProgram();
    const { options } = await s3Server(t);
    const { accessKeyId, secretAccessKey } = options.credentials as S3Credentials;
    const receiver = await otlpReceiver(t);
    const env = {
      ...receiver.env,
      PATH: process.env['PATH'],
      SCENEPRESS_DATABASE_URL: await serverUrl(),
      SCENEPRESS_DATABASE_SCHEMA: newSchema(),
      SCENEPRESS_S3_BUCKET: options.bucket,
      SCENEPRESS_S3_ENDPOINT: options.endpoint,
      SCENEPRESS_S3_LINKS: 'presigned',
      SCENEPRESS_S3_ACCESS_KEY_ID: accessKeyId,
      SCENEPRESS_S3_SECRET_ACCESS_KEY: secretAccessKey,
      SCENEPRESS_MASTER_KEY: '5a'.repeat(32),
      SCENEPRESS_PUBLIC_URL: 'http://127.0.0.1:1',
      SCENEPRESS_PYTHON: INSTANT_PYTHON,
      SCENEPRESS_INSECURE_NO_SANDBOX: 'true',
      SCENEPRESS_WORKERS: '1',
      SCENEPRESS_DRAIN_SECONDS: '0',
      SCENEPRESS_LOG_LEVEL: 'info',
    };
    /** Starts a service and returns its port when it is ready. */
    const start = async (command: string, ...args: string[]): Promise<string> => {
      const folder = await temporaryFolder(t);
      const child = spawn(command, [...args, '--port', '0', '--data-dir', folder], {
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const ended = once(child, 'close');
      t.teardown(async () => {
        child.kill('SIGKILL');
        await ended;
      });
      let log = '';
      for await (const line of createInterface({ input: child.stderr })) {
        log += `${line}\n`;
        const port = /"port":(\d+),.*"msg":"ready"/.exec(line)?.[1];
        if (port !== undefined) return port;
      }
      throw new Error(log);
    };
    const command = async (...args: string[]) => (await run(program, [...args, '--json'], { env })).stdout;

    const port = await start(program, 'serve', '--roles', 'api,sender,upkeep');
    // In the checkout, because the instant renderer is none of the executable's.
    await start(process.execPath, MAIN, 'worker');
    await command('account', 'create', 'ada@example.org');
    const created = await command('key', 'create', '--account', 'ada@example.org', '--name', 'Test');
    const client = new ScenepressClient({ url: `http://127.0.0.1:${port}`, key: JSON.parse(created).key });
    const job = await client.render({ className: 'Hello', code: 'from manim import *' });
    t.match(job, { status: 'completed' });
    const spans = await receiver.got((spans) =>
      ['POST /api/v2/render', 'job.end'].every((wanted) => spans.some(({ name }) => name === wanted)),
    );
    t.equal(
      new Set(spans.filter(({ name }) => /jobs|job\./.test(name)).map(({ traceId }) => traceId)).size,
      1,
    );

    const link = new URL(job.result?.video ?? '');
    const answer = await fetch(`http://127.0.0.1:${port}${link.pathname}`, { redirect: 'manual' });
    const signed = answer.headers.get('location') ?? '';
    t.match(signed, /X-Amz-Signature=/, 'the executable signs');
    const video = await fetch(signed);
    t.match([video.status, await video.text()], [200, /video/]);
  },
);
