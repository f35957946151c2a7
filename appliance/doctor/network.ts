import { readFile, stat } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Config } from '../config/config.ts';
import { expiryWarnings, readCredentials } from '../edge/certificate.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

const ANSWER_MS = 3_000;

/** Checks that the port is free or used by the service of this data folder (`served`). */
export async function examinePort(config: Config, { served }: { served: boolean }): Promise<Finding> {
  const { host, port } = config;
  const place = `${host}:${port}`;
  if (port === 0) return ok('Port', 'any free port');
  const error = await listen(host, port);
  if (error === undefined) return ok('Port', `${place} is free`);
  if (error.code === 'EADDRINUSE') {
    const holder = await nameOfHolder(config);
    if (holder !== 'Scenepress') {
      return failed(
        'Port',
        `${place} is used by another program`,
        'Stop that program, or choose another --port.',
      );
    }
    if (served) return ok('Port', `${place} is used by the service of this data folder`);
    return failed(
      'Port',
      `${place} is used by a Scenepress service with another data folder`,
      'Run the doctor with that --data-dir, or choose another --port.',
    );
  }
  const remedy =
    error.code === 'EACCES' ? 'Choose a port above 1023 with --port.' : 'Choose another --host or --port.';
  return failed('Port', `cannot listen on ${place} (${error.code})`, remedy);
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

/** The name in the response of the program that listens there. */
async function nameOfHolder({ host, port, tlsCert }: Config): Promise<string | undefined> {
  const everywhere = host === '0.0.0.0' || host === '::';
  const options = { host: everywhere ? 'localhost' : host, port, path: '/', agent: false };
  const signal = AbortSignal.timeout(ANSWER_MS);
  const answer = new Promise<string>((resolve, reject) => {
    const message =
      tlsCert === undefined
        ? httpRequest({ ...options, signal })
        : // Only the name matters here; `examineCertificate` checks the certificate.
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

/** Checks the certificate of an HTTPS service; undefined for plain HTTP. */
export async function examineCertificate({ tlsCert, tlsKey }: Config): Promise<Finding | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  try {
    const [cert, key] = await Promise.all([readFile(tlsCert, 'utf8'), readFile(tlsKey, 'utf8')]);
    const credentials = readCredentials(cert, key);
    const [problem] = expiryWarnings(credentials, Date.now());
    const renew = 'Renew it. A running service loads the new files automatically.';
    if (problem === undefined) {
      if (((await stat(tlsKey)).mode & 0o007) !== 0) {
        return warning(
          'Certificate',
          `other users can read the key ${tlsKey}`,
          `Restrict it to the service: chmod o= ${tlsKey}`,
        );
      }
      return ok('Certificate', `it is valid until ${new Date(credentials.notAfterMs).toISOString()}`);
    }
    const over = Date.now() >= credentials.notAfterMs || Date.now() < credentials.notBeforeMs;
    return (over ? failed : warning)('Certificate', problem, renew);
  } catch (error) {
    const { message } = error as Error;
    return failed('Certificate', `it can't be used: ${message}`, 'Check --tls-cert and --tls-key.');
  }
}
