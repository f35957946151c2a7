import type { CallToolResult, McpServer, ServerContext } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { ASPECT_RATIOS } from '../../lib/internal.ts';
import type { JobResults, JobState } from './engine.ts';
import { type McpOptions, may, WAIT_MS } from './options.ts';
import { PLAYER_META } from './player.ts';
import { ProgressReports } from './progress.ts';
import { CLASS_NAME, CODE, FORMATS, PARAMS, QUALITY } from './schemas.ts';
import { jobText } from './texts.ts';
import { answered, jpegBlocks, textBlock } from './tool-results.ts';

const RENDER_INPUT = z.strictObject({
  code: CODE,
  className: CLASS_NAME,
  quality: QUALITY,
  aspectRatio: z.enum(ASPECT_RATIOS).optional().describe('Default: 16:9.'),
  params: PARAMS,
  formats: FORMATS,
});

/** Where an account keeps files. */
const RENDER_WITH_FILES = RENDER_INPUT.extend({
  files: z
    .record(z.string(), z.string())
    .optional()
    .describe('Ids of files, by the names that the scene opens. Default: all files.'),
});

const JOB_INPUT = z.strictObject({
  jobId: z.string().min(1).max(100),
  cancel: z.boolean().optional().describe('End the render.'),
});

const JOB_OUTPUT = z.strictObject({
  jobId: z.string(),
  className: z.string(),
  status: z.enum(['queued', 'running', 'completed', 'failed']),
  durationMs: z.number().nullable(),
  creditsCost: z.number().nullable(),
  video: z.string().nullable().describe('URL of the MP4.'),
  files: z.array(z.strictObject({ name: z.string(), url: z.string() })).describe('Other formats, captions.'),
  plays: z.array(
    z.strictObject({
      line: z.number().describe('0: not known.'),
      shows: z.string(),
      startSeconds: z.number(),
      seconds: z.number(),
    }),
  ),
});

const HINTS = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

/** Adds the tools that make videos. */
export function addRenderTools(server: McpServer, options: McpOptions): void {
  if (may(options, 'render')) addRender(server, options);
  if (may(options, 'render', 'read')) addJob(server, options);
}

function addRender(server: McpServer, options: McpOptions): void {
  const { engine } = options;
  server.registerTool(
    'render',
    {
      title: 'Render a scene',
      description:
        'Renders a scene to an MP4. Answers with the video, or, if that takes longer than a minute, with a jobId for the tool job.',
      inputSchema: engine.files ? RENDER_WITH_FILES : RENDER_INPUT,
      outputSchema: JOB_OUTPUT,
      annotations: HINTS,
      _meta: PLAYER_META,
    },
    (order: z.infer<typeof RENDER_WITH_FILES>, context) =>
      answered(options, async () => {
        const jobId = await engine.render(order);
        const state = await waitFor(jobId, options, context);
        // The client has ended the call without learning the id of the job.
        if (context.mcpReq.signal.aborted && !options.stopping?.aborted) await engine.cancel(jobId);
        return resultOf(state, options);
      }),
  );
}

function addJob(server: McpServer, options: McpOptions): void {
  const { engine } = options;
  server.registerTool(
    'job',
    {
      title: 'Wait for a render, or cancel it',
      description: 'Waits for a render that was not finished when the tool render answered, or cancels it.',
      inputSchema: JOB_INPUT,
      outputSchema: JOB_OUTPUT,
      annotations: HINTS,
      _meta: PLAYER_META,
    },
    ({ jobId, cancel = false }, context) =>
      answered(options, async () => {
        if (cancel && !may(options, 'render')) {
          const message = 'This key may not cancel renders: it lacks the scope render.';
          return { content: [textBlock(message)], isError: true };
        }
        const state = cancel ? await engine.cancel(jobId) : await waitFor(jobId, options, context);
        return resultOf(state, options);
      }),
  );
}

/** Waits until a job has ended, as long as a call may take. */
async function waitFor(
  jobId: string,
  { engine, waitMs = WAIT_MS, stopping }: McpOptions,
  context: ServerContext,
): Promise<JobState> {
  const reports = new ProgressReports(context);
  const signals = [AbortSignal.timeout(waitMs), context.mcpReq.signal, ...(stopping ? [stopping] : [])];
  try {
    return await engine.wait(jobId, { signal: AbortSignal.any(signals), onProgress: reports.show });
  } finally {
    reports.stop();
  }
}

/** A failed scene is a result that the model corrects, not an error of the protocol. */
async function resultOf(state: JobState, options: McpOptions): Promise<CallToolResult> {
  const { jobId, className, status, durationMs, creditsCost } = state;
  const results = status === 'completed' ? await options.engine.results(jobId) : undefined;
  return {
    content: [
      textBlock(jobText(state, results)),
      ...(results ? [videoLink(className, results)] : []),
      ...jpegBlocks(results?.thumbnail, options),
    ],
    structuredContent: {
      ...{ jobId, className, status, durationMs, creditsCost },
      video: results?.videoUrl ?? null,
      files: (results?.others ?? []).map(({ name, url }) => ({ name, url })),
      plays: (results?.plays ?? []).map(({ line, shows, startSeconds, seconds }) => ({
        ...{ line, shows, startSeconds, seconds },
      })),
    },
    ...(status === 'failed' && { isError: true }),
  };
}

function videoLink(
  className: string,
  { videoUrl, videoBytes }: JobResults,
): CallToolResult['content'][number] {
  const size = videoBytes === null ? {} : { size: videoBytes };
  return { type: 'resource_link', uri: videoUrl, name: `${className}.mp4`, mimeType: 'video/mp4', ...size };
}
