import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { EngineFiles, KeptFile } from './engine.ts';
import { type McpOptions, may } from './options.ts';
import { filesText } from './texts.ts';
import { answered, textBlock } from './tool-results.ts';

/** Of a content in a call, in bytes: a request over HTTP has at most 1 MiB. */
const MOST_BYTES = 512 * 1024;
const MOST_BASE64 = Math.ceil(MOST_BYTES / 3) * 4;
const PATH = z.string().min(1).max(1000);

const LIST = {
  folder: PATH.optional().describe('List: only this folder.'),
  after: PATH.optional().describe('List: the `next` of the page before.'),
};
const PUT = {
  name: PATH.optional().describe('Put: as scenes name it, such as `brand/logo.svg`.'),
  text: z.string().max(MOST_BYTES).optional().describe('Put: the content.'),
  base64: z.string().max(MOST_BASE64).optional().describe('Put: the content, if it is no text.'),
};
const LOCAL = { path: PATH.optional().describe('Put: a file of the user to take instead.') };
const REMOVE = { fileId: z.string().min(1).max(100).optional().describe('Remove: of the list.') };

const OUTPUT = z.strictObject({
  files: z.array(
    z.strictObject({ fileId: z.string(), name: z.string(), kind: z.string(), sizeBytes: z.number() }),
  ),
  next: z.string().nullable(),
});

/** What a call asks for, whatever the tool of this caller takes. */
interface Asked {
  action: 'list' | 'put' | 'remove';
  folder?: string | undefined;
  after?: string | undefined;
  name?: string | undefined;
  text?: string | undefined;
  base64?: string | undefined;
  path?: string | undefined;
  fileId?: string | undefined;
}

/** Adds the tool for the files that scenes read, where there is an account that keeps them. */
export function addFilesTool(server: McpServer, options: McpOptions): void {
  const { files } = options.engine;
  if (!files || !may(options, 'render', 'read')) return;
  const isWriting = may(options, 'render');
  server.registerTool(
    'files',
    {
      title: 'Files of scenes',
      description: isWriting
        ? 'Lists, keeps or removes pictures, sounds, fonts, data and modules that scenes open by name.'
        : 'Lists pictures, sounds, fonts, data and modules that scenes open by name.',
      inputSchema: schemaOf({ isWriting, isLocal: files.readOwn !== undefined }),
      outputSchema: OUTPUT,
      annotations: { readOnlyHint: !isWriting, destructiveHint: isWriting, openWorldHint: false },
    },
    (asked: Asked) => answered(options, () => answer(files, asked)),
  );
}

function schemaOf({ isWriting, isLocal }: { isWriting: boolean; isLocal: boolean }): z.ZodType<Asked, Asked> {
  if (!isWriting) return z.strictObject({ action: z.enum(['list']), ...LIST });
  const action = z.enum(['list', 'put', 'remove']);
  const shape = { action, ...LIST, ...PUT, ...REMOVE };
  return isLocal ? z.strictObject({ ...shape, ...LOCAL }) : z.strictObject(shape);
}

async function answer(files: EngineFiles, asked: Asked): Promise<CallToolResult> {
  if (asked.action === 'list') {
    const { folder, after } = asked;
    const { files: found, next } = await files.list({
      ...(folder !== undefined && { folder }),
      ...(after !== undefined && { after }),
    });
    return result(filesText(found, next), found, next);
  }
  if (asked.action === 'remove') {
    if (asked.fileId === undefined) return refused('To remove a file give its fileId, which the list has.');
    await files.remove(asked.fileId);
    return result('It is removed.', [], null);
  }
  return put(files, asked);
}

async function put(files: EngineFiles, { name, text, base64, path }: Asked): Promise<CallToolResult> {
  const given = [text, base64, path].filter((one) => one !== undefined);
  if (name === undefined || given.length !== 1)
    return refused(`To keep a file give its name and one of text, base64${files.readOwn ? ', path' : ''}.`);
  if (base64 !== undefined && !z.base64().safeParse(base64).success)
    return refused('The member base64 is not base64.');
  const content = path === undefined ? bytesOf(text, base64) : await files.readOwn?.(path);
  if (!content) return refused('The member path is not taken here.');
  if (path === undefined && content.length > MOST_BYTES)
    return refused(`A content in a call has at most ${MOST_BYTES / 1024} KiB.`);
  const kept = await files.put(name, content);
  return result(`Scenes find it as ${kept.name}.`, [kept], null);
}

function bytesOf(text = '', base64: string | undefined): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(base64 === undefined ? Buffer.from(text, 'utf8') : Buffer.from(base64, 'base64'));
}

function result(text: string, found: readonly KeptFile[], next: string | null): CallToolResult {
  const files = found.map(({ fileId, name, kind, sizeBytes }) => ({ fileId, name, kind, sizeBytes }));
  return { content: [textBlock(text)], structuredContent: { files, next } };
}

function refused(message: string): CallToolResult {
  return { content: [textBlock(message)], isError: true };
}
