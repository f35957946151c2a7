import { Command, Option } from 'commander';
import type { JobStatus, Quality } from '../../lib/index.ts';
import { QUALITY_NAMES } from '../../lib/internal.ts';
import type { RemoteAdministration } from '../admin/admin-socket.ts';
import { JOB_STATUSES } from '../admin/administration-requests.ts';
import type { JobInfo, JobPage, ShownJob } from '../admin/administration-views.ts';
import type { JobFind } from '../admin/jobs.ts';
import { forEachJob } from '../admin/many.ts';
import { withAdministration } from '../runtime/with-administration.ts';
import { shownWork } from '../support/work-times.ts';
import { configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { labelCommand } from './job-labels.ts';
import {
  counted,
  print,
  printable,
  printDetails,
  printJson,
  printTable,
  shownDuration,
  shownSize,
  shownTime,
} from './output.ts';
import { watchJob } from './watch-job.ts';
import { wholeNumber } from './whole-number.ts';

type Flags = { json?: boolean } & Record<string, unknown>;

interface ListFlags extends Flags {
  account?: string;
  status?: JobStatus;
  quality?: Quality;
  error?: string;
  since?: string;
  until?: string;
  limit?: number;
  before?: string;
  text?: string;
  tag?: string;
  project?: string;
  starred?: boolean;
}

/** `scenepress job …` */
export function jobCommand(): Command {
  const job = new Command('job').description('Render jobs');
  addExamples(job, 'scenepress job list --status failed', 'scenepress job watch JOBID');

  job.addCommand(
    administrative(
      'list',
      'List jobs, newest first',
      'scenepress job list --account ada@example.org --status failed',
      ['scenepress job list --limit 100 --before JOBID', 'the next hundred'],
      ['scenepress job list --error LaTeX --since 2026-11-01', 'searches failed jobs'],
    )
      .option('--account <account>', 'only jobs of this account: e-mail address or user id')
      .addOption(new Option('--status <status>', 'only jobs with this status').choices(JOB_STATUSES))
      .addOption(new Option('--quality <quality>', 'only jobs in this quality').choices(QUALITY_NAMES))
      .option('--error <text>', 'only failed jobs whose error contains this text, in any case')
      .option('--text <words>', 'only jobs with words that begin so, in their titles, code and other texts')
      .option('--tag <tag>', 'only jobs with this tag')
      .option('--project <name>', 'only jobs of this project')
      .option('--starred', 'only marked jobs')
      .option('--since <time>', 'only jobs created at this time or later, such as 2026-11-22T18:30:00Z')
      .option('--until <time>', 'only jobs created before this time')
      .option('--limit <number>', 'maximum number of jobs (default: 50)', wholeNumber)
      .option('--before <jobId>', 'only jobs older than this one')
      .action(async (flags: ListFlags) => {
        // The configuration has an option `quality`, too, for workers.
        const { quality, ...options } = flags;
        const { account, status, error, since, until, limit, before } = options;
        const { text, tag, project, starred } = options;
        const labels = { text, tag, project, starred };
        const isSearch = Object.values(labels).some((label) => label !== undefined);
        const { jobs, examined, next } = await withAdministration(configOf(options), (admin) =>
          isSearch
            ? foundBy(admin, { account, status, quality, since, until, limit, cursor: before, ...labels })
            : admin.jobs.search({ account, status, quality, error, since, until, limit, before }),
        );
        if (examined !== null && next !== null) {
          process.stderr.write(
            `Looked through ${counted(examined, 'failed job')}. Continue with --before ${next}\n`,
          );
        }
        if (flags.json) return printJson(jobs);
        printTable(
          ['JOB ID', 'STATUS', 'SCENE', 'QUALITY', 'CREATED', 'TOOK', 'CREDITS', 'ACCOUNT'],
          jobs.map((job) => [
            job.jobId,
            job.status,
            job.title === null ? job.className : printable(job.title),
            job.quality,
            shownTime(job.createdAt),
            shownDuration(job.durationMs),
            String(job.creditsCost),
            job.account,
          ]),
        );
      }),
  );

  job.addCommand(
    administrative(
      'count',
      'Count the jobs with each status that were created since a time',
      'scenepress job count --since 2026-11-22',
    )
      .requiredOption('--since <time>', 'such as 2026-11-22T18:30:00Z')
      .option('--account <account>', 'only jobs of this account: e-mail address or user id')
      .action(async (flags: Flags & { since: string; account?: string }) => {
        const { since, account } = flags;
        const counts = await withAdministration(configOf(flags), (admin) =>
          admin.jobs.count({ since, account }),
        );
        if (flags.json) printJson(counts);
        else printDetails(Object.entries(counts).map(([status, count]) => [status, String(count)]));
      }),
  );

  job.addCommand(
    administrative(
      'show <jobId>',
      'Show a job: status, progress, error with the lines of code, artifacts, what the scene printed',
      'scenepress job show JOBID',
      ['scenepress job show JOBID --details', 'with its metadata and code'],
    )
      .option('--details', 'also show the metadata and the code')
      .action(async (jobId: string, flags: Flags & { details?: boolean }) => {
        if (!flags.details) {
          const found = await withAdministration(configOf(flags), (admin) => admin.jobs.show({ jobId }));
          return flags.json ? printJson(found) : show(found);
        }
        const found = await withAdministration(configOf(flags), (admin) => admin.jobs.showDetails({ jobId }));
        if (flags.json) return printJson(found);
        show(found);
        const { usage } = found;
        for (const [stage, ms] of Object.entries(usage?.stagesMs ?? {}))
          print(`Stage ${stage}: ${shownDuration(ms)}`);
        if (found.metadataJson !== null) print(`\n${printable(found.metadataJson)}`);
        if (found.code !== null) print(`\n${printable(found.code)}`);
      }),
  );

  job.addCommand(
    administrative(
      'watch <jobId>',
      'Follow a job until it ends; exit code 0 if it completed, 1 if it failed',
      'scenepress job watch JOBID',
      ['scenepress job watch JOBID --json', 'prints the job when it has ended'],
    ).action(async (jobId: string, flags: Flags) => {
      const ended = await watchJob(configOf(flags), jobId);
      if (flags.json) printJson(ended);
      else show(ended);
      if (ended.status === 'failed') process.exitCode = 1;
    }),
  );

  job.addCommand(
    administrative(
      'cancel <jobId...>',
      'Cancel queued or running jobs; they fail with "Canceled" and cost nothing',
      'scenepress job cancel JOBID',
    ).action(async (jobIds: string[], flags: Flags) => {
      await each(jobIds, flags, (admin) => admin.jobs.cancel, {
        one: ({ jobId, error, status }) =>
          `Job ${jobId} ${error === 'Canceled' ? 'is canceled' : `had already ended: it ${status}`}.`,
        several: 'canceled',
      });
    }),
  );

  job.addCommand(labelCommand());

  job.addCommand(
    administrative(
      'forget <jobId...>',
      'Remove the code, metadata, error, webhook and artifacts of ended jobs; their cost stays recorded',
      'scenepress job forget JOBID',
    ).action(async (jobIds: string[], flags: Flags) => {
      await each(jobIds, flags, (admin) => admin.jobs.forget, {
        one: ({ jobId }) =>
          `Job ${jobId} is forgotten; its cost stays in the books. Earlier backups still contain the job.`,
        several: 'forgotten',
      });
    }),
  );

  job.addCommand(
    administrative(
      'retry <jobId...>',
      'Render again: create new jobs from the same sources, charged like any other',
      'scenepress job retry JOBID',
    ).action(async (jobIds: string[], flags: Flags) => {
      await each(jobIds, flags, (admin) => admin.jobs.renderAgain, {
        one: ({ jobId, status, className, quality }) =>
          `Job ${jobId} is ${status}: ${className} in ${quality} quality.`,
        several: 'rendered again',
      });
    }),
  );

  return job;
}

/** All jobs of a page: the first search after a while has to read them. */
async function foundBy(admin: RemoteAdministration, asked: JobFind): Promise<JobPage> {
  const { limit = 50 } = asked;
  const jobs: JobInfo[] = [];
  let cursor = asked.cursor;
  for (;;) {
    const found = await admin.jobs.find({ ...asked, limit: limit - jobs.length, cursor });
    jobs.push(...found.jobs);
    if (found.next === null || jobs.length >= limit) return { jobs, examined: null, next: found.next };
    cursor = found.next;
  }
}

type Apply = (admin: RemoteAdministration) => (request: { jobId: string }) => Promise<JobInfo>;

/** Applies an operation to jobs. With several, one that fails doesn't stop the others; exit code 1 if any failed. */
async function each(
  jobIds: string[],
  flags: Flags,
  apply: Apply,
  said: { one: (job: JobInfo) => string; several: string },
): Promise<void> {
  const [jobId = '', ...others] = jobIds;
  if (others.length === 0) {
    const job = await withAdministration(configOf(flags), (admin) => apply(admin)({ jobId }));
    return flags.json ? printJson(job) : print(said.one(job));
  }
  const result = await withAdministration(configOf(flags), (admin) => forEachJob(jobIds, apply(admin)));
  if (flags.json) printJson(result);
  else print(`${counted(result.done.length, 'job')} ${said.several}.`);
  for (const { jobId, message } of result.problems) process.stderr.write(`${jobId}: ${message}\n`);
  if (result.problems.length > 0) process.exitCode = 1;
}

function show(job: ShownJob): void {
  const { progress, usage } = job;
  printDetails([
    ['Job', job.jobId],
    ['Account', job.account],
    ['Scene', `${job.className}, ${job.quality} quality, ${job.aspectRatio}, ${job.fps} frames per second`],
    ['Title', job.title && printable(job.title)],
    ['Project', job.project && printable(job.project)],
    ['Tags', job.tags.length > 0 ? printable(job.tags.join(', ')) : null],
    ['Starred', job.starred ? 'yes' : null],
    ['Status', job.status + (job.attempts > 1 ? `, ${job.attempts} attempts` : '')],
    [
      'Progress',
      progress &&
        `${progress.stage}, ${counted(progress.frames, 'frame')}, ${progress.seconds.toFixed(1)} s of video`,
    ],
    ['Created', shownTime(job.createdAt)],
    ['Ended', shownTime(job.completedAt)],
    ['Took', shownDuration(job.durationMs)],
    ['Time', usage?.workMs && shownWork(usage.workMs)],
    ['Peak memory', usage?.peakMemoryBytes ? shownSize(usage.peakMemoryBytes) : null],
    ['Copied frames', usage?.copiedFrames ? String(usage.copiedFrames) : null],
    ['Credits', String(job.creditsCost)],
    ['Webhook', job.webhookUrl],
    ['Failed by', job.failedBy],
    ['Error', job.error],
    ['Hint', job.diagnosis?.hint],
    ...job.artifacts.map(({ url, sizeBytes }): [string, string] => [
      'Artifact',
      `${url} (${shownSize(sizeBytes)})`,
    ]),
    ['Output', job.output.trimEnd()],
  ]);
}
