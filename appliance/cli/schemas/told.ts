import Joi from 'joi';
import type { WholeJob } from '../../../lib/client/index.ts';
import type { Finding, Play } from '../../../lib/index.ts';
import { ARTIFACTS, type ArtifactField, FILE_KINDS } from '../../../lib/internal.ts';
import type { KeptFile } from '../../mcp/engine.ts';
import { diagnosis, play } from './findings.ts';
import { usage } from './jobs.ts';
import { count, list, number, object, oneOf, text } from './parts.ts';

/** A job as a service tells it. */
export interface ToldJob
  extends Pick<WholeJob, 'jobId' | 'className' | 'status' | 'durationMs' | 'creditsCost' | 'error'> {
  diagnosis: Finding | null;
  plays: Play[];
  /** URLs, by the fields of artifacts. */
  result: ({ video: string; thumbnail: string } & Partial<Record<ArtifactField, string>>) | null;
}

/** A page of files as a service tells it. */
export interface ToldFiles {
  files: KeptFile[];
  next: string | null;
}

const LONGEST_ERROR = 4096;
const LONGEST_OUTPUT = 40_000;
const link = Joi.string().uri({ scheme: ['http', 'https'] });
const otherLinks = Object.fromEntries(
  Object.values(ARTIFACTS)
    .filter(({ format, field }) => format !== null || field === 'captions')
    .map(({ field }) => [field, link.optional()]),
);

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
  result: object<{ video: string; thumbnail: string }>({ video: link, thumbnail: link })
    .keys(otherLinks)
    .allow(null),
});

/** A file of the account. */
export const keptFile: Joi.ObjectSchema = object<KeptFile>({
  ...{ fileId: text.required(), name: text.required() },
  ...{ kind: Joi.string().valid(...Object.keys(FILE_KINDS)), sizeBytes: count },
});

/** A page of files of the account. */
export const toldFiles: Joi.ObjectSchema = object<ToldFiles>({
  files: list(keptFile),
  next: text.allow(null),
});
