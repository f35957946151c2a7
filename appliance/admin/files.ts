import type { Readable } from 'node:stream';
import type { Accounts, ByteRange, RenderService } from '../../lib/index.ts';
import type { OwnerFile, Storage } from '../../lib/internal.ts';
import type { AdministrationParts } from './administration.ts';
import { check, listLimit, nameInList } from './administration-requests.ts';
import type { FileInfo, FilePage, FileUse, JobFiles } from './file-views.ts';
import { pageOf } from './pages.ts';

/** The files of accounts, which their scenes read. */
export class FileAdministration {
  readonly #accounts: Accounts;
  readonly #service: RenderService;
  readonly #storage: Storage;

  constructor({ accounts, service, place }: Pick<AdministrationParts, 'accounts' | 'service' | 'place'>) {
    this.#accounts = accounts;
    this.#service = service;
    this.#storage = place.storage;
  }

  /** By name. `folder`: only those in it and below it. `after`: the name of the last file of the previous page. */
  async list(request: {
    account: string;
    folder?: string | undefined;
    search?: string | undefined;
    limit?: number | undefined;
    after?: string | undefined;
  }): Promise<FilePage> {
    const { folder, search } = request;
    const limit = check(listLimit, request.limit);
    const after = check(nameInList, request.after);
    const { accountId, email } = await this.#accounts.find(request.account);
    const found = await this.#service.files.list({
      ...{ owner: accountId, limit: limit + 1 },
      ...(folder !== undefined && { folder }),
      ...(search !== undefined && { search: check(nameInList, search) as string }),
      ...(after !== undefined && { after }),
    });
    const { rows, next } = pageOf(found, limit, ({ name }) => name);
    return { files: rows.map((file) => infoOf(file, email)), next };
  }

  /** What the files of an account take of its limits. */
  async usage({ account }: { account: string }): Promise<FileUse> {
    const { accountId } = await this.#accounts.find(account);
    const { files, bytes, mostFiles, mostBytes } = await this.#service.files.usage(accountId);
    return { files, bytes, mostFiles: finite(mostFiles), mostBytes: finite(mostBytes) };
  }

  /** Error: `not_found`. */
  async show({ fileId }: { fileId: string }): Promise<FileInfo> {
    const file = await this.#service.files.get(String(fileId));
    return infoOf(file, (await this.#accounts.find(file.owner)).email);
  }

  /** The files that a job uses, by name. */
  async ofJob({ jobId }: { jobId: string }): Promise<JobFiles> {
    const { files, note } = await this.#service.filesOf(jobId);
    const records = await this.#storage.files.getAll(files.map(({ fileId }) => fileId));
    const kept = new Set(records.filter(({ phase }) => phase === 'stored').map(({ fileId }) => fileId));
    return { files: files.map(({ name, fileId }) => ({ name, fileId, isKept: kept.has(fileId) })), note };
  }

  /** Its content, which the caller reads to its end or destroys. Error: `not_found`. */
  async open({ fileId, range }: { fileId: string; range?: ByteRange | undefined }): Promise<{
    stream: Readable;
    contentType: string;
  }> {
    const opened = await this.#service.files.open(String(fileId), range ? { range } : {});
    return { stream: opened.stream as Readable, contentType: opened.contentType };
  }

  /** Keeps a file. Errors: those of {@link OwnerFiles.put}. */
  async put({
    account,
    ...file
  }: {
    account: string;
    name: string;
    content: AsyncIterable<Uint8Array>;
    signal?: AbortSignal;
  }): Promise<FileInfo> {
    const { accountId, email } = await this.#accounts.find(account);
    return infoOf(await this.#service.files.put({ ...file, owner: accountId }), email);
  }

  /** Jobs that use it find it under its earlier name. Errors: those of {@link OwnerFiles.rename}. */
  async rename({ fileId, name }: { fileId: string; name: string }): Promise<FileInfo> {
    const { account } = await this.show({ fileId });
    return infoOf(await this.#service.files.rename(String(fileId), { name: String(name) }), account);
  }

  /** Jobs that use it can still be rendered. Error: `not_found`. */
  async remove({ fileId }: { fileId: string }): Promise<FileInfo> {
    const file = await this.show({ fileId });
    await this.#service.files.remove(file.fileId);
    return file;
  }
}

function infoOf({ owner: _, ...file }: OwnerFile, account: string): FileInfo {
  return { ...file, account };
}

function finite(limit: number): number | null {
  return Number.isFinite(limit) ? limit : null;
}
