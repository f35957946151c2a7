import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import type { McpOptions } from './options.ts';

export function textBlock(text: string): ContentBlock {
  return { type: 'text', text };
}

/** None where results have no pictures. */
export function jpegBlocks(
  jpeg: Uint8Array | null | undefined,
  { hasPictures = true }: Pick<McpOptions, 'hasPictures'>,
): ContentBlock[] {
  if (!jpeg || !hasPictures) return [];
  return [{ type: 'image', data: Buffer.from(jpeg).toString('base64'), mimeType: 'image/jpeg' }];
}

/** The result of a call; the message of an error is a result, too, so that the model reads it. */
export async function answered(
  { explain }: Pick<McpOptions, 'explain'>,
  work: () => Promise<CallToolResult>,
): Promise<CallToolResult> {
  try {
    return await work();
  } catch (error) {
    return { content: [textBlock(explain(error))], isError: true };
  }
}
