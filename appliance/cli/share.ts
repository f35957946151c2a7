import { Command } from 'commander';
import type { ApiShare, ScenepressClient, ShareSettings } from '../../lib/client/index.ts';
import { SHARE_VISIBILITIES } from '../../lib/internal.ts';
import { UserError } from '../support/user-error.ts';
import { addExamples } from './describe.ts';
import { print, printable, printJson, printTable, shownTime } from './output.ts';
import { callService, remoteCommand } from './remote-command.ts';
import { ofTools, type RemoteServiceOptions } from './remote-service.ts';
import type { ServerFlags } from './server-flags.ts';

interface Flags extends ServerFlags {
  json?: boolean;
}

const MOST_BYTES = 64 * 1024 ** 2;
const HTTP: RemoteServiceOptions = { mostBytes: MOST_BYTES };
const PAGE = 500;

/** `scenepress share …` */
export function shareCommand(): Command {
  const share = new Command('share').description('Links under which others watch videos of an account');
  addExamples(share, 'scenepress share create JOB --title Pythagoras', 'scenepress share list');

  share.addCommand(
    remoteCommand(
      'create <job-id...>',
      'Make a link to the video of a job, or to those of several, in their order',
      'scenepress share create JOB --title Pythagoras --server http://127.0.0.1:8080',
      ['scenepress share create JOB --visibility public --expires 2030-01-31T12:00:00Z', 'until then'],
    )
      .option('--title <text>', 'shown above the video (default: that of the job)')
      .option('--description <text>', 'shown below the video')
      .option('--visibility <who>', `who may watch: ${SHARE_VISIBILITIES.join(', ')} (default: link)`)
      .option('--expires <time>', 'when the link stops working: ISO 8601 (default: never)')
      .option('--poster <seconds>', 'the time of the picture before the video plays (default: the thumbnail)')
      .option('--no-download', 'offer no files to keep')
      .action(async (jobIds: string[], flags: Flags & SettingFlags) => {
        const settings = settingsOf(flags);
        const made = await callService(flags, HTTP, (client, signal) =>
          ofTools(client.shares.create({ jobIds, ...settings }, { signal })),
        );
        if (flags.json) printJson(made);
        else print(made.url);
      }),
  );

  share.addCommand(
    remoteCommand('list', 'List links, newest first', 'scenepress share list --job JOB')
      .option('--job <job-id>', 'only those with the video of this job')
      .action(async (flags: Flags & { job?: string }) => {
        const shares = await callService(flags, HTTP, (client, signal) => all(client, flags.job, signal));
        if (flags.json) return printJson(shares);
        printTable(
          ['SHARE ID', 'TITLE', 'STATE', 'VIEWS', 'CREATED', 'LINK'],
          shares.map(({ shareId, title, state, views, createdAt, url }) => [
            ...[shareId, printable(title ?? ''), state, String(views), shownTime(createdAt), url],
          ]),
        );
      }),
  );

  share.addCommand(
    remoteCommand(
      'revoke <share-id>',
      'End a link at once, for good',
      'scenepress share revoke SHARE --server http://127.0.0.1:8080',
    ).action(async (shareId: string, flags: Flags) => {
      const revoked = await callService(flags, HTTP, (client, signal) =>
        ofTools(client.shares.revoke(shareId, { signal })),
      );
      if (flags.json) printJson(revoked);
      else print(`The link ${revoked.url} no longer works.`);
    }),
  );
  return share;
}

interface SettingFlags {
  title?: string;
  description?: string;
  visibility?: string;
  expires?: string;
  poster?: string;
  download: boolean;
}

function settingsOf({
  title,
  description,
  visibility,
  expires,
  poster,
  download,
}: SettingFlags): ShareSettings {
  const who = SHARE_VISIBILITIES.find((each) => each === visibility);
  if (visibility !== undefined && !who)
    throw new UserError(`--visibility is one of ${SHARE_VISIBILITIES.join(', ')}.`, { exitCode: 2 });
  const seconds = Number(poster);
  if (poster !== undefined && !(seconds >= 0))
    throw new UserError('--poster is a time in seconds, such as 2.5.', { exitCode: 2 });
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(who && { visibility: who }),
    ...(expires !== undefined && { expiresAt: expires }),
    ...(poster !== undefined && { poster: { seconds } }),
    ...(!download && { allowDownload: false }),
  };
}

async function all(
  client: ScenepressClient,
  jobId: string | undefined,
  signal: AbortSignal,
): Promise<ApiShare[]> {
  const found: ApiShare[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = {
      limit: PAGE,
      ...(jobId !== undefined && { jobId }),
      ...(cursor !== undefined && { cursor }),
    };
    const page = await ofTools(client.shares.list(query, { signal }));
    found.push(...page.shares);
    cursor = page.next;
  }
  return found;
}
