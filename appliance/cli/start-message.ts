import type { Config } from '../config/config.ts';
import { FIRST_ACCOUNT } from '../first-account.ts';
import { VERSION } from '../version.ts';
import { counted, shownTime } from './output.ts';

const LOOPBACK = /^(127\.|::1$|localhost$)/;

/** What a person reads when the service has started. */
export function startMessage(start: {
  config: Pick<Config, 'host'>;
  url: string;
  dataDir: string;
  queuePausedAt: string | null;
}): string {
  const lines = [`Scenepress ${VERSION} listens on ${start.url}`, `Data folder: ${start.dataDir}`];
  if (LOOPBACK.test(start.config.host)) {
    lines.push(
      'Only this machine can connect. To open it to the network, set SCENEPRESS_HOST=0.0.0.0 and',
      'SCENEPRESS_PUBLIC_URL to the address that clients reach it at.',
    );
  }
  if (start.queuePausedAt !== null) {
    lines.push(
      `The queue is paused since ${shownTime(start.queuePausedAt)}: nothing is rendered. To go on: scenepress queue resume`,
    );
  }
  return `\n${lines.join('\n')}\n`;
}

/** What a person reads who has pressed Ctrl-C. */
export function stopMessage({ running, drainSeconds }: { running: number; drainSeconds: number }): string {
  const renders = `${counted(running, 'render')} may finish for up to ${drainSeconds} s`;
  return `\nStopping${running > 0 ? `: ${renders}` : ''}. Press Ctrl-C again to end now.`;
}

/** The key of the first start, with a command that uses it. */
export function keyMessage({ url, key }: { url: string; key: string }): string {
  const code =
    'from manim import *\nclass Hello(Scene):\n    def construct(self):\n        self.play(Write(Text("Hello")))';
  const body = JSON.stringify({ className: 'Hello', code });
  return `
API key of ${FIRST_ACCOUNT}, shown this once:

  ${key}

Render a scene with it, then ask for the job that it names:

  curl ${url}/api/v2/render -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'
  curl ${url}/api/v2/render/JOB_ID -H 'Authorization: Bearer ${key}'
`;
}
