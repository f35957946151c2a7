import Joi from 'joi';
import type { WholeJob } from '../../../lib/client/index.ts';
import type { Finding, Play } from '../../../lib/index.ts';
import { diagnosis, play } from './findings.ts';
import { usage } from './jobs.ts';
import { count, list, number, object, oneOf, text } from './parts.ts';

/** A job as a service tells it. */
export interface ToldJob
  extends Pick<WholeJob, 'jobId' | 'className' | 'status' | 'durationMs' | 'creditsCost' | 'error'> {
  diagnosis: Finding | null;
  plays: Play[];
  /** URLs. */
  result: { video: string; thumbnail: string } | null;
}

const LONGEST_ERROR = 4096;
const LONGEST_OUTPUT = 40_000;
const link = Joi.string().uri({ scheme: ['http', 'https'] });

/** The members of a service's answer about a job that a render of the command has, too. */
export const told: Joi.ObjectSchema = object<Record<'diagnosis' | 'failure' | 'output' | 'usage', unknown>>({
  diagnosis,
  failure: Joi.object({ kind: text.required() }).allow(null),
  output: text.max(LONGEST_OUTPUT),
  usage,
});

/** A service's answer about a job, as tools for language models need it. */
export const toldJob: Joi.ObjectSchema = object<ToldJob>({
  jobId: text,
  className: text,
  status: oneOf<ToldJob['status']>({ queued: true, running: true, completed: true, failed: true }),
  durationMs: number.allow(null),
  creditsCost: count,
  error: text.max(LONGEST_ERROR).allow(null),
  diagnosis,
  plays: list(play),
  result: object<NonNullable<ToldJob['result']>>({ video: link, thumbnail: link }).allow(null),
});
