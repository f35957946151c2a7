import { resolve } from 'node:path';
import { FIRST_ACCOUNT, type FirstKey } from '../admin/first-account.ts';
import type { Config } from '../config/config.ts';
import { withoutPassword } from '../config/option-types.ts';
import { OPTIONS } from '../config/options.ts';
import { plainCommand } from '../support/command-line.ts';
import { VERSION } from '../support/version.ts';
import { counted, shownTime } from './output.ts';

const LOOPBACK = /^(127\.|::1$|localhost$)/;

/** Printed when the service has started. */
export function startMessage(start: {
  config: Pick<Config, 'host' | 'publicUrl' | 'roles' | 'databaseUrl' | 'databaseSchema'>;
  /** Where it listens. */
  url: string;
  dataDir: string;
  queuePausedAt: string | null;
}): string {
  const { publicUrl, databaseUrl, roles } = start.config;
  const lines = [`Scenepress ${VERSION} listens on ${start.url}`];
  if (publicUrl !== undefined) lines.push(`Public URL: ${publicUrl}`);
  if (databaseUrl === undefined) lines.push(`Data folder: ${start.dataDir}`);
  else lines.push(`Database: ${withoutPassword(databaseUrl)}`, `Roles of this process: ${roles.join(', ')}`);
  if (LOOPBACK.test(start.config.host)) {
    const host =
      'Only this machine can connect. To allow connections from the network, set SCENEPRESS_HOST=0.0.0.0';
    if (publicUrl !== undefined) lines.push(`${host}.`);
    else lines.push(`${host} and`, 'SCENEPRESS_PUBLIC_URL to the URL under which clients reach the service.');
  }
  if (start.queuePausedAt !== null) {
    const resume = plainCommand(['queue', 'resume', ...placeOptions(start)].join(' '));
    lines.push(
      `The queue has been paused since ${shownTime(start.queuePausedAt)}: nothing is rendered. To resume: ${resume}`,
    );
  }
  return `\n${lines.join('\n')}\n`;
}

/** Printed when a process without an API has started. `url`: of its health. */
export function rolesMessage({
  config,
  url,
}: {
  config: Pick<Config, 'databaseUrl' | 'roles' | 'quality'>;
  url: string;
}): string {
  const { databaseUrl = '', roles, quality } = config;
  return [
    `\nScenepress ${VERSION} runs as ${roles.join(', ')} for ${withoutPassword(databaseUrl)}`,
    ...(roles.includes('worker') && quality ? [`Qualities: ${quality.join(', ')}`] : []),
    `Health: ${url}/health/ready\n`,
  ].join('\n');
}

/** Where the dashboard is, or how to sign in to it for the first time. */
export function dashboardMessage({ url, setupLink }: { url: string; setupLink: string | null }): string {
  if (setupLink === null) return `Dashboard: ${url}/dashboard\n`;
  return `\nTo set up the dashboard, open this link (valid until an account has a password):\n\n  ${setupLink}\n`;
}

/** Printed after Ctrl-C. */
export function stopMessage({ running, drainSeconds }: { running: number; drainSeconds: number }): string {
  const renders = `waiting up to ${drainSeconds} s for ${counted(running, 'running render')}`;
  return `\nStopping${running > 0 ? `: ${renders}` : ''}. Press Ctrl-C again to stop immediately.`;
}

/** How to get another key, on later starts. `account`: its owner, if there is no choice. */
export function otherKeyMessage({
  config,
  account,
  dataDir,
}: {
  config: Pick<Config, 'databaseUrl' | 'databaseSchema'>;
  account?: string | undefined;
  dataDir: string;
}): string {
  const words = [
    'key',
    'create',
    '--account',
    account === undefined ? 'EMAIL' : shellWord(account),
    '--name',
    'NAME',
    ...placeOptions({ config, dataDir }),
  ];
  return `\nTo create another API key: ${plainCommand(words.join(' '))}\n`;
}

/** The options with which a command finds the data of this service. */
function placeOptions({
  config: { databaseUrl, databaseSchema },
  dataDir,
}: {
  config: Pick<Config, 'databaseUrl' | 'databaseSchema'>;
  dataDir: string;
}): string[] {
  if (databaseUrl === undefined)
    return dataDir === resolve(String(OPTIONS.dataDir.default)) ? [] : ['--data-dir', shellWord(dataDir)];
  const schema =
    databaseSchema === OPTIONS.databaseSchema.default ? [] : ['--database-schema', shellWord(databaseSchema)];
  return ['--database-url', shellWord(withoutPassword(databaseUrl)), ...schema];
}

function shellWord(word: string): string {
  return /^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The key of the first start, with example commands. */
export function keyMessage({ url, key, webhookSecret }: FirstKey & { url: string }): string {
  const code =
    'from manim import *\nclass Hello(Scene):\n    def construct(self):\n        self.play(Write(Text("Hello")))';
  const body = JSON.stringify({ className: 'Hello', code });
  return `
API key of ${FIRST_ACCOUNT}, and the secret that signs its webhooks, shown only once:

  ${key}
  ${webhookSecret}

Render a scene, then query the job with the returned id:

  curl ${url}/api/v2/render -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'
  curl ${url}/api/v2/render/JOB_ID -H 'Authorization: Bearer ${key}'
`;
}
