import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import type { ServiceProblem } from '../../lib/index.ts';
import type { Config } from '../config/config.ts';
import type { Readiness } from '../http/health.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { print, printJson } from './output.ts';

const TIMEOUT_MS = 5_000;

/** The result of a probe; no answer is a problem, too. */
type Health = Omit<Partial<Readiness>, 'status'> & { status: string; problems: ServiceProblem[] };

/** `scenepress health` */
export function healthCommand(): Command {
  const command = new Command('health')
    .description('Ask the server on this machine whether it is ready; exit code 1 if it is not')
    .option('--live', 'ask only whether the process responds')
    .option('--json', 'print JSON')
    .action(async ({ live = false, json, ...flags }: { live?: boolean; json?: boolean }) => {
      const health = await probe(configOf(flags), live ? '/health/live' : '/health/ready');
      if (health.problems.length > 0) process.exitCode = 1;
      if (json) printJson(health);
      else print([health.status, ...health.problems.map(({ message }) => message)].join('\n'));
    });
  return addExamples(addConfigFlags(command, 'health'), 'scenepress health', [
    'scenepress health --live',
    'for a probe that restarts the service',
  ]);
}

async function probe(config: Config, path: string): Promise<Health> {
  const { host, port, tlsCert } = config;
  const everywhere = host === '0.0.0.0' || host === '::';
  const name = everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const url = new URL(path, `${tlsCert === undefined ? 'http' : 'https'}://${name}:${port}`);
  try {
    const { status, body } = await get(url);
    if (status === 200 || status === 503)
      return { problems: [], ...(JSON.parse(body) as { status: string }) };
    return failed(`${url} answered ${status}.`);
  } catch (error) {
    return failed(`${url} does not answer: ${(error as Error).message || String(error)}.`);
  }
}

function failed(message: string): Health {
  return { status: 'not ready', problems: [{ part: 'service', message }] };
}

/** The certificate is not verified: it is for the public name, and the server is asked by its address. */
function get(url: URL): Promise<{ status: number; body: string }> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const options = { rejectUnauthorized: false, signal: AbortSignal.timeout(TIMEOUT_MS) };
  request(url, options, (response) => {
    text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
  })
    .on('error', reject)
    .end();
  return promise;
}
