import Joi from 'joi';
import type { RenderProgress, RenderUsage } from '../../../lib/index.ts';
import { RENDER_WORK, type RenderStage } from '../../../lib/internal.ts';
import type { JobDetails, JobInfo, ShownJob } from '../../admin/administration-views.ts';
import type { Problem } from '../../admin/many.ts';
import { diagnosis, failedBy, play } from './findings.ts';
import { count, list, number, object, oneOf, quality, record, text, time, yes } from './parts.ts';

const STAGES: Record<RenderStage, true> = { loading: true, rendering: true, finishing: true };

/** What a render does at present. */
export const ofProgress: Record<keyof RenderProgress, Joi.Schema> = {
  stage: oneOf(STAGES),
  frames: count.description('Frames drawn so far.'),
  seconds: number.description('Length of the video so far.'),
};

export const usage: Joi.ObjectSchema = object<RenderUsage>({
  stagesMs: object<Record<RenderStage, number>>({
    loading: number.optional(),
    rendering: number.optional(),
    finishing: number.optional(),
  }).description('Wall-clock time of each stage that it entered, in milliseconds.'),
  workMs: Joi.object(Object.fromEntries(RENDER_WORK.map((work) => [work, number.required()])))
    .optional()
    .description('Wall-clock time by kind of work, in milliseconds; absent if it was not reported.'),
  peakMemoryBytes: count.allow(null).description('Memory of all processes of the scene; null: not measured.'),
  copiedFrames: count.description('Frames that were copied from the last video of the scene.'),
  videoSeconds: number.optional().description('Length of the video; absent without one.'),
})
  .allow(null)
  .description('Time and memory of the render; null unless it ended by itself.');

const ofJob = {
  jobId: text,
  account: text.description('The e-mail address of its account, or the user id of a deleted one.'),
  status: oneOf<JobInfo['status']>({ queued: true, running: true, completed: true, failed: true }),
  className: text.description('The scene; empty once it is forgotten.'),
  title: text.allow(null).description('A name for people; null: none.'),
  tags: list(text).description('Words to find it by.'),
  starred: yes.description('Whether it is marked.'),
  project: text.allow(null).description('The project that it is part of; null: none.'),
  quality,
  aspectRatio: text,
  fps: number.description('Frames per second.'),
  attempts: count.description('How often it was begun.'),
  creditsCost: count.description('What it was charged; 0 until it completes.'),
  durationMs: number.allow(null).description('How long it took, in milliseconds; null until it has ended.'),
  videoSeconds: number.allow(null).description('Length of its video; null without one.'),
  artifacts: list(
    object<JobInfo['artifacts'][number]>({
      name: text.description('Such as `video.mp4`.'),
      sizeBytes: count,
      url: text,
    }),
  ),
  error: text.allow(null).description('Why it failed, for the author of the scene; null unless it failed.'),
  failedBy,
  webhookUrl: text.allow(null).description('Where its outcome is sent; null: nowhere.'),
  createdAt: time,
  completedAt: time.allow(null).description('When it ended; null until then.'),
  forgottenAt: time.allow(null).description('When its content was forgotten; null in most jobs.'),
  progress: object<RenderProgress>(ofProgress)
    .allow(null)
    .description('Progress of the render; null while there is none.'),
};

export const job: Joi.ObjectSchema = object<JobInfo>(ofJob);

const ofShownJob = {
  ...ofJob,
  usage,
  diagnosis,
  output: text.description('What the scene printed, and warnings; empty until the job has ended.'),
};
export const shownJob: Joi.ObjectSchema = object<ShownJob>(ofShownJob);

const jobDetails = object<JobDetails>({
  ...ofShownJob,
  startedAt: time.allow(null).description('When its last attempt began; null before.'),
  code: text.allow(null).description('The code of the scene; null once it is forgotten.'),
  metadataJson: text.allow(null).description('The JSON text as received; null without one.'),
  params: record(Joi.any())
    .allow(null)
    .required()
    .description('Values of parameters of the scene; null: none.'),
  plays: list(play).description('The plays of the scene, once it has completed.'),
  formats: list(text).description('What it makes: `mp4`, and the other formats of the request.'),
  fromPlay: count.allow(null).description('The first play of its video, from 0; null: that of the scene.'),
  toPlay: count.allow(null).description('The last play of its video; null: that of the scene.'),
});

export const foundJob: Joi.AlternativesSchema = Joi.alternatives(
  shownJob,
  jobDetails.description('With `--details`.'),
);

export const jobCounts: Joi.ObjectSchema = object<Record<JobInfo['status'], number>>({
  queued: count,
  running: count,
  completed: count,
  failed: count,
});

/** What became of several jobs. */
const each = object<{ done: string[]; problems: Problem[] }>({
  done: list(text).description('The ids of the jobs for which it succeeded.'),
  problems: list(
    object<Problem>({
      jobId: text,
      code: text.description('For programs, such as `not_found` or `conflict`.'),
      message: text,
    }),
  ),
});

/** With one job, the job; with several, what became of them. */
export const changedJobs: Joi.AlternativesSchema = Joi.alternatives(
  job.description('With one id: the job.'),
  each.description('With several ids.'),
);
