import { Command, InvalidArgumentError, Option } from 'commander';
import type { JobStatus } from '../../lib/index.ts';
import { JOB_STATUSES } from '../admin/administration-requests.ts';
import type { JobInfo } from '../admin/administration-views.ts';
import { configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { print, printDetails, printJson, printTable, shownDuration, shownSize, shownTime } from './output.ts';
import { watchJob } from './watch-job.ts';
import { withAdministration } from './with-administration.ts';

type Flags = { json?: boolean } & Record<string, unknown>;

interface ListFlags extends Flags {
  account?: string;
  status?: JobStatus;
  limit?: number;
  before?: string;
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
    )
      .option('--account <account>', 'only jobs of this account: e-mail address or user id')
      .addOption(new Option('--status <status>', 'only jobs with this status').choices(JOB_STATUSES))
      .option('--limit <number>', 'maximum number of jobs (default: 50)', wholeNumber)
      .option('--before <jobId>', 'only jobs older than this one')
      .action(async (flags: ListFlags) => {
        const { account, status, limit, before } = flags;
        const jobs = await withAdministration(configOf(flags), (admin) =>
          admin.jobs.list({ account, status, limit, before }),
        );
        if (flags.json) return printJson(jobs);
        printTable(
          ['JOB ID', 'STATUS', 'SCENE', 'QUALITY', 'CREATED', 'TOOK', 'CREDITS', 'ACCOUNT'],
          jobs.map((job) => [
            job.jobId,
            job.status,
            job.className,
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
      'show <jobId>',
      'Show a job: status, progress, error with the line of code, artifacts',
      'scenepress job show JOBID',
    ).action(async (jobId: string, flags: Flags) => {
      const found = await withAdministration(configOf(flags), (admin) => admin.jobs.show({ jobId }));
      if (flags.json) printJson(found);
      else show(found);
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
      'cancel <jobId>',
      'Cancel a queued or running job; it fails with "Canceled" and costs nothing',
      'scenepress job cancel JOBID',
    ).action(async (jobId: string, flags: Flags) => {
      const canceled = await withAdministration(configOf(flags), (admin) => admin.jobs.cancel({ jobId }));
      if (flags.json) printJson(canceled);
      else
        print(
          `Job ${jobId} ${canceled.error === 'Canceled' ? 'is canceled' : `had already ended: it ${canceled.status}`}.`,
        );
    }),
  );

  job.addCommand(
    administrative(
      'forget <jobId>',
      'Remove the code, metadata, error, webhook and artifacts of an ended job; its cost stays recorded',
      'scenepress job forget JOBID',
    ).action(async (jobId: string, flags: Flags) => {
      const forgotten = await withAdministration(configOf(flags), (admin) => admin.jobs.forget({ jobId }));
      if (flags.json) printJson(forgotten);
      else
        print(
          `Job ${jobId} is forgotten; its cost stays in the books. Earlier backups still contain the job.`,
        );
    }),
  );

  job.addCommand(
    administrative(
      'retry <jobId>',
      'Render again: create a new job from the same source, charged like any other',
      'scenepress job retry JOBID',
    ).action(async (jobId: string, flags: Flags) => {
      const made = await withAdministration(configOf(flags), (admin) => admin.jobs.renderAgain({ jobId }));
      if (flags.json) printJson(made);
      else print(`Job ${made.jobId} is ${made.status}: ${made.className} in ${made.quality} quality.`);
    }),
  );

  return job;
}

/** Argument parser of `--limit` and similar flags. */
export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

function show(job: JobInfo): void {
  const { progress } = job;
  printDetails([
    ['Job', job.jobId],
    ['Account', job.account],
    ['Scene', `${job.className}, ${job.quality} quality, ${job.aspectRatio}, ${job.fps} frames per second`],
    ['Status', job.status + (job.attempts > 1 ? `, ${job.attempts} attempts` : '')],
    [
      'Progress',
      progress && `${progress.stage}, ${progress.frames} frames, ${progress.seconds.toFixed(1)} s of video`,
    ],
    ['Created', shownTime(job.createdAt)],
    ['Ended', shownTime(job.completedAt)],
    ['Took', shownDuration(job.durationMs)],
    ['Credits', String(job.creditsCost)],
    ['Webhook', job.webhookUrl],
    ['Error', job.error],
    ...job.artifacts.map(({ url, sizeBytes }): [string, string] => [
      'Artifact',
      `${url} (${shownSize(sizeBytes)})`,
    ]),
  ]);
}
