import { known, SIGNAL } from '../base/known-options.ts';
import { sentRequest } from './sent-request.ts';
import type { ApiFile, FilePage, FilesQuery } from './wire.ts';

/** Sends a request to the tools API. */
type Send = (path: string, signal: AbortSignal | undefined, init?: RequestInit) => Promise<Response>;

interface Options {
  /** Aborts the request and its repetitions. */
  signal?: AbortSignal;
}

/**
 * The files of the account, which its scenes read by name.
 *
 * ```ts
 * await client.files.put('logo.png', await (await fetch('/logo.png')).blob());
 * await client.render({ className: 'Title', code }); // ImageMobject("logo.png")
 * ```
 */
export class ClientFiles {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /** Keeps a file, instead of one of the same name. Error: status 400 for a name or a content that scenes can't use. */
  async put(
    name: string,
    content: Blob | Uint8Array<ArrayBuffer> | string,
    options: Options = {},
  ): Promise<ApiFile> {
    const { signal } = known('files.put', options, SIGNAL);
    const headers = { 'content-type': 'application/octet-stream' };
    const path = `/files?${new URLSearchParams({ name })}`;
    const response = await this.#send(path, signal, { method: 'POST', headers, body: content });
    return (await response.json()) as ApiFile;
  }

  /** A page of files, by name. */
  async list(query: FilesQuery = {}, options: Options = {}): Promise<FilePage> {
    const { signal } = known('files.list', options, SIGNAL);
    const names = { folder: true, search: true, limit: true, cursor: true } as const;
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries(known('files.list', query, names)))
      if (value !== undefined) given.set(name, String(value));
    return (await (await this.#send(`/files?${given}`, signal)).json()) as FilePage;
  }

  /** Error: status 404 when there is no such file. */
  async get(fileId: string, options: Options = {}): Promise<ApiFile> {
    const { signal } = known('files.get', options, SIGNAL);
    return (await (await this.#send(`/files/${encodeURIComponent(fileId)}`, signal)).json()) as ApiFile;
  }

  /** The response has the bytes as a stream, `blob()` or `bytes()`. Error: status 404 when there is no such file. */
  async download(fileId: string, options: Options = {}): Promise<Response> {
    const { signal } = known('files.download', options, SIGNAL);
    return this.#send(`/files/${encodeURIComponent(fileId)}/content`, signal);
  }

  /**
   * Gives a file another name. Jobs that were added before find it under its earlier one. Errors: status 400 for a name that
   * ends differently, 409 when another file has it.
   */
  async rename(fileId: string, name: string, options: Options = {}): Promise<ApiFile> {
    const { signal } = known('files.rename', options, SIGNAL);
    const init = sentRequest({ name });
    return (await (
      await this.#send(`/files/${encodeURIComponent(fileId)}/rename`, signal, init)
    ).json()) as ApiFile;
  }

  /** Jobs that were added before can still be rendered with it. Error: status 404 when there is no such file. */
  async remove(fileId: string, options: Options = {}): Promise<void> {
    const { signal } = known('files.remove', options, SIGNAL);
    await this.#send(`/files/${encodeURIComponent(fileId)}`, signal, { method: 'DELETE' });
  }
}
