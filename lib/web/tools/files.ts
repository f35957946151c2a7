import { Readable } from 'node:stream';
import Joi from 'joi';
import { FILE_KINDS } from '../../model/file-kinds.ts';
import type { FileQuery } from '../../owner-files/owner-files.ts';
import { type Answer, named } from '../openapi/endpoint.ts';
import { json, TOOLS_PATH, type ToolCall, type ToolRoute } from './route.ts';
import { toolErrors } from './tool-errors.ts';

const LIMIT = 100;
const MOST = 500;
const RENAME_BYTES = 16 * 1024;
const count = Joi.number().integer().min(0).required();
const text = Joi.string().required();
const ID = { fileId: 'The id of the file.' };

const FILE = named(
  'File',
  Joi.object({
    fileId: text,
    name: text.description('The path under which scenes find it.'),
    kind: Joi.valid(...Object.keys(FILE_KINDS)).required(),
    sizeBytes: count,
    sha256: text.description('Of its content, in hexadecimal.'),
    createdAt: Joi.string().isoDate().required(),
  }),
);
const THE_FILE: Record<number, Answer> = { 200: { description: 'The file.', schema: FILE } };

/** The files of the account, which its scenes read. */
export const FILE_ROUTES: readonly ToolRoute[] = [
  {
    method: 'GET',
    path: `${TOOLS_PATH}/files`,
    operationId: 'listFiles',
    summary: 'List files',
    description: 'Files of the account, by name. For the next page repeat the query with `cursor`.',
    tag: 'Files',
    scopes: ['read', 'render'],
    query: {
      folder: Joi.string().description('Only those in this folder and below it, such as `voices`.'),
      search: Joi.string().description('Only those whose names contain this text, in upper or lower case.'),
      limit: Joi.number().integer().min(1).max(MOST).description(`Default: ${LIMIT}.`),
      cursor: Joi.string().description('The `next` of the preceding page.'),
    },
    responses: {
      200: {
        description: 'A page; `next` is null at the end. `usage` is of all files of the account.',
        schema: named(
          'FilePage',
          Joi.object({
            files: Joi.array().items(FILE).required(),
            next: Joi.string().allow(null).required(),
            usage: Joi.object({
              files: count,
              bytes: count.description('Equal contents count once; those that jobs still use count, too.'),
              mostFiles: Joi.number().integer().allow(null).required().description('Null: no limit.'),
              mostBytes: Joi.number().integer().allow(null).required().description('Null: no limit.'),
            }).required(),
          }),
        ),
      },
      ...toolErrors(400, 401, 403, 429),
    },
    answer: list,
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/files`,
    operationId: 'putFile',
    summary: 'Keep a file',
    description:
      'The body is the content. Replaces a file of the same name, except by the same content: it may be repeated. Jobs that ' +
      'were added before use the earlier one.',
    tag: 'Files',
    scopes: ['render'],
    query: {
      name: Joi.string()
        .required()
        .description('The path under which scenes find it, such as `logo.png` or `voices/intro.mp3`.'),
    },
    upload: { description: 'The content of the file.' },
    responses: {
      201: { description: 'The file is kept.', schema: FILE },
      ...toolErrors(400, 401, 403, 429, 503),
    },
    answer: async ({ service, caller: { owner }, query, content, signal }) => {
      const name = String(query['name']);
      return json(201, fileJson(await service.files.put({ owner, name, content: content(), signal })));
    },
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/files/{fileId}`,
    operationId: 'getFile',
    summary: 'Get what is known about a file',
    description: 'Its name, kind, size and digest.',
    tag: 'Files',
    scopes: ['read', 'render'],
    params: ID,
    responses: { ...THE_FILE, ...toolErrors(401, 403, 404, 429) },
    answer: async ({ service, caller: { owner }, params: { fileId = '' } }) =>
      json(200, fileJson(await service.files.get(fileId, { owner }))),
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/files/{fileId}/content`,
    operationId: 'getFileContent',
    summary: 'Download a file',
    description: 'The content, to be saved: browsers do not show it.',
    tag: 'Files',
    scopes: ['read', 'render'],
    params: ID,
    responses: {
      200: { description: 'The content.', media: ['application/octet-stream'] },
      ...toolErrors(401, 403, 404, 429),
    },
    answer: download,
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/files/{fileId}/rename`,
    operationId: 'renameFile',
    summary: 'Rename a file',
    description: 'Jobs that were added before find it under its earlier name. The new one ends like it.',
    tag: 'Files',
    scopes: ['render'],
    params: ID,
    body: {
      name: 'RenameRequest',
      mostBytes: RENAME_BYTES,
      schema: Joi.object({ name: text.description('The path under which scenes find it.') }),
    },
    responses: {
      ...THE_FILE,
      409: { ...toolErrors(409)[409], description: 'Another file has that name.' },
      ...toolErrors(400, 401, 403, 404, 413, 429, 503),
    },
    answer: async ({ service, caller: { owner }, params: { fileId = '' }, body }) => {
      const name = String(body['name']);
      return json(200, fileJson(await service.files.rename(fileId, { owner, name })));
    },
  },
  {
    method: 'DELETE',
    path: `${TOOLS_PATH}/files/{fileId}`,
    operationId: 'removeFile',
    summary: 'Remove a file',
    description: 'Jobs that were added before can still be rendered with it.',
    tag: 'Files',
    scopes: ['render'],
    params: ID,
    responses: { 204: { description: 'The file is removed.' }, ...toolErrors(401, 403, 404, 429, 503) },
    answer: async ({ service, caller: { owner }, params: { fileId = '' } }) => {
      await service.files.remove(fileId, { owner });
      return new Response(null, { status: 204 });
    },
  },
];

async function list({ service, caller: { owner }, query }: ToolCall): Promise<Response> {
  const {
    folder,
    search,
    limit = LIMIT,
    cursor,
  } = query as Pick<FileQuery, 'folder' | 'search' | 'limit'> & { cursor?: string };
  const [files, { mostFiles, mostBytes, ...used }] = await Promise.all([
    service.files.list({
      ...{ owner, limit },
      ...(folder !== undefined && { folder }),
      ...(search !== undefined && { search }),
      ...(cursor !== undefined && { after: cursor }),
    }),
    service.files.usage(owner),
  ]);
  return json(200, {
    files: files.map(fileJson),
    next: files.length < limit ? null : (files.at(-1)?.name ?? null),
    usage: { ...used, mostFiles: finite(mostFiles), mostBytes: finite(mostBytes) },
  });
}

/** Sandboxed, and saved instead of shown: a drawing may contain scripts. */
async function download({ service, caller: { owner }, params }: ToolCall): Promise<Response> {
  const { stream, sizeBytes, file } = await service.files.open(params['fileId'] ?? '', { owner });
  const name = encodeURIComponent(file.name.split('/').at(-1) ?? '');
  return new Response(Readable.toWeb(stream as Readable) as ReadableStream<Uint8Array>, {
    headers: {
      'content-type': 'application/octet-stream',
      'content-length': String(sizeBytes),
      'content-disposition': `attachment; filename*=UTF-8''${name}`,
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
    },
  });
}

/** Without its owner, who is the caller. */
function fileJson<File extends { owner: string }>({ owner: _, ...file }: File): Omit<File, 'owner'> {
  return file;
}

function finite(limit: number): number | null {
  return Number.isFinite(limit) ? limit : null;
}
