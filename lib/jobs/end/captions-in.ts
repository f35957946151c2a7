import { open } from 'node:fs/promises';
import { captionText } from '../../model/caption-text.ts';
import type { RenderedFile } from '../../model/render-task.ts';

/** Of a file of captions: with its times, several times the text by which the job is found. */
const MOST_BYTES = 256 * 1024;

/** The text of the captions that a render made; null without any, or if they can't be read: then only the search lacks them. */
export async function captionsIn(files: readonly RenderedFile[]): Promise<string | null> {
  const file = files.find(({ name }) => name === 'captions.vtt');
  return file ? captionText(await beginningOf(file.path).catch(() => '')) : null;
}

async function beginningOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
