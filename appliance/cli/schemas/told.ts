import Joi from 'joi';
import { diagnosis } from './findings.ts';
import { usage } from './jobs.ts';
import { object, text } from './parts.ts';

const LONGEST_OUTPUT = 40_000;

/** The members of a service's answer about a job that a render of the command has, too. */
export const told: Joi.ObjectSchema = object<Record<'diagnosis' | 'failure' | 'output' | 'usage', unknown>>({
  diagnosis,
  failure: Joi.object({ kind: text.required() }).allow(null),
  output: text.max(LONGEST_OUTPUT),
  usage,
});
