import { readFile, stat } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { expiryWarnings, readCredentials } from '../certificate.ts';
import type { Config } from '../config/config.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

const ANSWER_MS = 3_000;

/** The port is free, or held by the service of this data folder (`served`). */
export async function examinePort(config: Config, { served }: { served: boolean }): Promise<Finding> {
  const { host, port } = config;
  const place = `${host}:${port}`;
  if (port === 0) return ok('Port', 'any that is free');
  const error = await listen(host, port);
  if (error === undefined) return ok('Port', `${place} is free`);
  if (error.code === 'EADDRINUSE') {
    const holder = await nameOfHolder(config);
    if (holder !== 'Scenepress') {
      return failed(
        'Port',
        `${place} is held by another program`,
        'Stop that one, or choose another --port.',
      );
    }
    if (served) return ok('Port', `${place} is held by the service that runs on this data folder`);
    return failed(
      'Port',
      `${place} is held by a Scenepress with another data folder`,
      'Name the same --data-dir to the doctor, or choose another --port.',
    );
  }
  const remedy =
    error.code === 'EACCES' ? 'Choose a port above 1023 with --port.' : 'Choose another --host or --port.';
  return failed('Port', `${place} can't be listened on (${error.code})`, remedy);
}

async function listen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, exclusive: true }, resolve);
    });
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  } finally {
    server.close();
  }
}

/** What the program that listens there calls itself. */
async function nameOfHolder({ host, port, tlsCert }: Config): Promise<string | undefined> {
  const everywhere = host === '0.0.0.0' || host === '::';
  const options = { host: everywhere ? 'localhost' : host, port, path: '/', agent: false };
  const signal = AbortSignal.timeout(ANSWER_MS);
  const answer = new Promise<string>((resolve, reject) => {
    const message =
      tlsCert === undefined
        ? httpRequest({ ...options, signal })
        : // Only its name is asked for; whether clients can trust it is a question of its own.
          httpsRequest({ ...options, signal, rejectUnauthorized: false });
    message.once('error', reject);
    message.once('response', (response) => text(response).then(resolve, reject));
    message.end();
  });
  try {
    return (JSON.parse(await answer) as { name?: string }).name;
  } catch {
    return undefined;
  }
}

/** The certificate of an https service; undefined for one that serves http. */
export async function examineCertificate({ tlsCert, tlsKey }: Config): Promise<Finding | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  try {
    const [cert, key] = await Promise.all([readFile(tlsCert, 'utf8'), readFile(tlsKey, 'utf8')]);
    const credentials = readCredentials(cert, key);
    const [problem] = expiryWarnings(credentials, Date.now());
    const renew = 'Renew it. A running service takes up the new files by itself.';
    if (problem === undefined) {
      if (((await stat(tlsKey)).mode & 0o007) !== 0) {
        return warning(
          'Certificate',
          `others may read the key ${tlsKey}`,
          `Keep it to the service: chmod o= ${tlsKey}`,
        );
      }
      return ok('Certificate', `it is in force until ${new Date(credentials.notAfterMs).toISOString()}`);
    }
    const over = Date.now() >= credentials.notAfterMs || Date.now() < credentials.notBeforeMs;
    return (over ? failed : warning)('Certificate', problem, renew);
  } catch (error) {
    const { message } = error as Error;
    return failed('Certificate', `it can't be used: ${message}`, 'Check --tls-cert and --tls-key.');
  }
}
