import { droppedFiles } from './dropped-files.ts';
import type { Editor } from './editor.ts';
import { filled } from './filled.ts';
import { texts } from './texts.ts';

/** Uploads what is dropped on the code, one after the other, and writes the names there. */
export class DroppedIntoCode {
  readonly #editor: Editor;
  readonly #base: string;
  readonly #csrf: string;
  readonly #tell: (text: string, kind: 'bad' | '') => void;

  /** `base`: the path of the playground. */
  constructor(
    editor: Editor,
    parts: { base: string; csrf: string; tell: (text: string, kind: 'bad' | '') => void },
  ) {
    this.#editor = editor;
    this.#base = parts.base;
    this.#csrf = parts.csrf;
    this.#tell = parts.tell;
  }

  /** Must be called by the listener. */
  async take(transfer: DataTransfer): Promise<void> {
    for (const { path, file } of await droppedFiles(transfer)) {
      this.#tell(filled(texts().uploading, { path }), '');
      const problem = await this.#upload(path, file);
      if (problem !== undefined) {
        return this.#tell(filled(texts().notUploaded, { path, problem }), 'bad');
      }
      this.#editor.insertName(path.normalize());
      this.#tell(filled(texts().uploaded, { path }), '');
    }
  }

  /** Resolves with why it was refused. */
  async #upload(name: string, file: File): Promise<string | undefined> {
    const url = `${this.#base.replace(/playground$/, 'files')}/upload?${new URLSearchParams({ name })}`;
    const headers = { 'x-csrf-token': this.#csrf, 'content-type': 'application/octet-stream' };
    const answer = await fetch(url, { method: 'POST', headers, body: file }).catch(() => undefined);
    if (answer?.status === 201) return undefined;
    if (!answer) return texts().unreachable;
    if (answer.redirected) return texts().sessionEnded;
    const { message } = (await answer.json().catch(() => ({}))) as { message?: string };
    return message ?? filled(texts().status, { status: answer.status });
  }
}
