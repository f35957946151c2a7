import type { Names } from '../base/known-options.ts';
import type { ClientFile, JobsQuery, ToolRequest } from './wire.ts';

/** The fields of a query for jobs. */
export const JOBS_QUERY: Names<JobsQuery> = {
  status: true,
  quality: true,
  text: true,
  tag: true,
  project: true,
  starred: true,
  since: true,
  until: true,
  limit: true,
  cursor: true,
};

/** The fields that the contract does not have: a request with one goes to the tools API. */
const OF_TOOLS: readonly (keyof ToolRequest)[] = [
  'title',
  'tags',
  'project',
  'seed',
  'params',
  'formats',
  'files',
];

/** The path of a render request. */
export function pathOf(request: ToolRequest): string {
  return OF_TOOLS.some((name) => name in request) ? '/api/tools/v1/jobs' : '/api/v2/render';
}

/** The body of a request: JSON, or a form if contents of files come with it. */
export function sentRequest(
  body: object,
  headers: Record<string, string> = {},
): { method: 'POST'; headers: Record<string, string>; body: string | FormData } {
  const { files = {}, ...rest } = body as { files?: Readonly<Record<string, ClientFile>> };
  const contents = Object.entries(files).filter(([, file]) => typeof file !== 'string');
  if (contents.length === 0)
    return {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    };
  const named = Object.fromEntries(Object.entries(files).filter(([, file]) => typeof file === 'string'));
  const form = new FormData();
  form.append('request', new Blob([JSON.stringify({ ...rest, files: named })], { type: 'application/json' }));
  for (const [name, file] of contents) form.append(name, file instanceof Blob ? file : new Blob([file]));
  return { method: 'POST', headers, body: form };
}
