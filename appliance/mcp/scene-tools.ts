import type { McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { GUIDE_TOPICS, guideOf } from './guide.ts';
import { type McpOptions, may } from './options.ts';
import { CLASS_NAME, CODE, PARAMS, QUALITY } from './schemas.ts';
import { checkText, inspectionText } from './texts.ts';
import { answered, jpegBlocks, textBlock } from './tool-results.ts';

const GUIDE_INPUT = z.strictObject({
  topic: z.enum(GUIDE_TOPICS).optional().describe('Default: scene.'),
});

const CHECK_INPUT = z.strictObject({
  code: CODE,
  className: CLASS_NAME.optional().describe('Default: all scenes of the code.'),
  params: PARAMS,
  noRun: z.boolean().optional().describe('Only read the code: at once, but finds less.'),
});

const CHECK_OUTPUT = z.strictObject({
  ok: z.boolean().describe('Whether no finding is an error.'),
  findings: z.array(
    z.strictObject({
      kind: z.string(),
      severity: z.enum(['error', 'warning']),
      message: z.string(),
      line: z.number().nullable(),
      column: z.number().nullable(),
      hint: z.string().nullable(),
      candidates: z.array(z.string()),
      fix: z
        .strictObject({ line: z.number(), column: z.number(), endColumn: z.number(), text: z.string() })
        .nullable()
        .describe('Replaces these columns of the line by the text; null: none is known to work.'),
    }),
  ),
});

const INSPECT_INPUT = z.strictObject({
  code: CODE,
  className: CLASS_NAME.optional().describe('Default: all scenes of the code.'),
  quality: QUALITY.describe('Of the render that it is for.'),
  params: PARAMS,
});

/** Adds the tools about scenes that make no video. */
export function addSceneTools(server: McpServer, options: McpOptions): void {
  const { engine } = options;
  server.registerTool(
    'guide',
    {
      title: 'Guide',
      description: 'Reference texts about writing Manim scenes for this renderer. Read `scene` first.',
      inputSchema: GUIDE_INPUT,
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ topic = 'scene' }) => ({ content: [textBlock(await guideOf(topic))] }),
  );
  if (!may(options, 'check')) return;
  server.registerTool(
    'check',
    {
      title: 'Check scenes',
      description:
        'Tells what is wrong with scenes, where, and what to write instead, without drawing them. Takes seconds and costs nothing: call it before render.',
      inputSchema: CHECK_INPUT,
      outputSchema: CHECK_OUTPUT,
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ noRun = false, ...question }, { mcpReq: { signal } }) =>
      answered(options, async () => {
        const { ok, findings } = await engine.check({ ...question, dryRun: !noRun }, signal);
        const told = findings.map(({ kind, severity, message, line, column, hint, candidates, fix }) => ({
          ...{ kind, severity, message, line, column, hint, candidates, fix },
        }));
        return { content: [textBlock(checkText(findings))], structuredContent: { ok, findings: told } };
      }),
  );
  if (options.isReadOnly) return;
  server.registerTool(
    'inspect',
    {
      title: 'Inspect scenes',
      description:
        'Draws a contact sheet of a scene, without a video. Tells when each play begins, and what can’t be read or seen.',
      inputSchema: INSPECT_INPUT,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    },
    (question, { mcpReq: { signal } }) =>
      answered(options, async () => {
        const inspected = await engine.inspect(question, signal);
        return {
          content: [textBlock(inspectionText(inspected)), ...jpegBlocks(inspected.scenes[0]?.sheet, options)],
        };
      }),
  );
}
