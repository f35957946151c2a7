import type { Command } from 'commander';
import type { JobLabels } from '../../lib/internal.ts';
import { withAdministration } from '../runtime/with-administration.ts';
import { configOf } from './config-flags.ts';
import { administrative } from './describe.ts';
import { print, printable, printJson } from './output.ts';

interface LabelFlags extends Record<string, unknown> {
  json?: boolean;
  title?: string;
  tag?: string[];
  tags?: boolean;
  star?: boolean;
  unstar?: boolean;
  project?: string;
}

/** `scenepress job label …` */
export function labelCommand(): Command {
  return administrative(
    'label <jobId>',
    'Change title, tags, star or project of a job; what is not named stays',
    'scenepress job label JOBID --title "Fourier series" --project analysis --tag waves',
    ['scenepress job label JOBID --star', 'marks it in the library'],
    ['scenepress job label JOBID --project ""', 'takes it out of its project'],
  )
    .option('--title <title>', 'a name for people; empty: none')
    .option('--tag <tag>', 'its tags become these: repeat for each', (tag: string, all: string[] = []) => [
      ...all,
      tag,
    ])
    .option('--no-tags', 'remove all tags')
    .option('--star', 'mark it')
    .option('--unstar', 'remove the mark')
    .option('--project <name>', 'the project that it is part of; empty: none')
    .action(async (jobId: string, flags: LabelFlags) => {
      const labels = labelsOf(flags);
      const job = await withAdministration(configOf(flags), (admin) =>
        admin.jobs.relabel({ jobId, ...labels }),
      );
      if (flags.json) printJson(job);
      else
        print(
          `Job ${jobId} is ${printable(job.title ?? job.className)}${job.project === null ? '' : ` of ${printable(job.project)}`}.`,
        );
    });
}

function labelsOf({ title, tag, tags, star, unstar, project }: LabelFlags): JobLabels {
  return {
    ...(title !== undefined && { title: title || null }),
    ...(tag ? { tags: tag } : tags === false && { tags: [] }),
    ...((star || unstar) && { starred: star === true }),
    ...(project !== undefined && { project: project || null }),
  };
}
