import type Joi from 'joi';
import { COUNT, group, POSITIVE } from '../../base/checked.ts';
import { DEFAULT_LIMITS, type RenderLimits } from '../../model/limits.ts';

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The limits of renders as options. */
export const LIMITS: Joi.ObjectSchema<RenderLimits> = group<RenderLimits>(
  {
    timeoutMs: POSITIVE.max(LONGEST_TIMER_MS),
    memoryBytes: COUNT,
    addressSpaceBytes: COUNT,
    processes: COUNT,
    fileSizeBytes: COUNT,
    diskBytes: COUNT,
    files: COUNT,
    openFiles: COUNT,
    frames: COUNT,
    outputBytes: COUNT,
  },
  DEFAULT_LIMITS,
);
