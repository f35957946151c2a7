import { realpath } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { openRegularFile } from '../../lib/internal.ts';
import type { EngineFiles } from '../mcp/engine.ts';
import { UserError } from '../support/user-error.ts';
import { valid } from './remote-scenes.ts';
import { ofTools, type RemoteService } from './remote-service.ts';
import { keptFile, type ToldFiles, toldFiles } from './schemas/told.ts';

const PAGE = 100;
const MOST_BYTES = 100 * 1024 ** 2;

/** The files of a service elsewhere. `folder`: of files of this machine that may be kept there; default: none. */
export function remoteFiles(service: RemoteService, folder: string | undefined): EngineFiles {
  return {
    list: ({ after, ...query }) =>
      service.call(async ({ client, signal }) => {
        const page = { ...query, ...(after !== undefined && { cursor: after }), limit: PAGE };
        return valid<ToldFiles>(toldFiles, await ofTools(client.files.list(page, { signal })));
      }),
    put: (name, content) =>
      service.call(async ({ client, signal }) =>
        valid(keptFile, await ofTools(client.files.put(name, content, { signal }))),
      ),
    remove: (fileId) => service.call(({ client, signal }) => client.files.remove(fileId, { signal })),
    ...(folder !== undefined && { readOwn: (path: string) => readIn(folder, path) }),
  };
}

/** Error: for a path that leads out of the folder, also by a link, or to a hidden file. */
async function readIn(folder: string, path: string): Promise<Uint8Array<ArrayBuffer>> {
  const top = await realpath(folder);
  const place = await realpath(resolve(top, path)).catch(() => undefined);
  if (place === undefined) throw new UserError(`There is no file ${path} in ${folder}.`);
  const below = relative(top, place);
  if (below.startsWith('..') || resolve(top, below) !== join(top, below))
    throw new UserError(`${path} is not in ${folder}: only files of --folder are kept.`);
  if (below.split(sep).some((part) => part.startsWith('.')))
    throw new UserError(`${path} is hidden: it is not kept.`);
  const file = await openRegularFile(place).catch((cause: Error) => {
    throw new UserError(`${path} can't be read: ${cause.message}`, { cause });
  });
  try {
    const { size } = await file.stat();
    if (size > MOST_BYTES) throw new UserError(`${path} is larger than ${MOST_BYTES / 1024 ** 2} MiB.`);
    return Uint8Array.from(await file.readFile());
  } finally {
    await file.close();
  }
}
