import * as z from 'zod';
import { JOB_FORMATS, type JobFormat, QUALITY_NAMES } from '../../lib/internal.ts';
import { MAX_BODY_BYTES } from '../../lib/web/index.ts';

/** Of a source that a tool is given. */
export const CODE: z.ZodString = z
  .string()
  .min(1)
  .max(MAX_BODY_BYTES)
  .describe('Python source: `from manim import *`, helpers, and the scene classes.');

/** Of a scene. */
export const CLASS_NAME: z.ZodString = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
  .describe('The scene class.');

/** Of scenes. */
export const PARAMS: z.ZodOptional<z.ZodType<Record<string, unknown>>> = z
  .record(z.string(), z.json())
  .optional()
  .describe('Of parameters that the scenes declare.');

/** Of a video. */
export const QUALITY: z.ZodOptional<z.ZodType<(typeof QUALITY_NAMES)[number]>> = z
  .enum(QUALITY_NAMES)
  .optional()
  .describe('480p, 720p (default), 1080p, 1440p, 2160p.');

/** What a job makes besides. */
export const FORMATS: z.ZodOptional<z.ZodType<JobFormat[]>> = z
  .array(z.enum(JOB_FORMATS))
  .max(JOB_FORMATS.length)
  .optional()
  .describe('Besides the MP4.');
