import { type FileKind, kindOfName } from '../../../lib/internal.ts';
import type { FileInfo } from '../../admin/file-views.ts';
import { html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { BASE, type Visit } from '../route.ts';
import { accountOf } from './chosen-account.ts';

export function kindLabel(kind: FileKind): string {
  return texts().files.kinds[kind];
}

/** The path of the list of the page's account, below {@link BASE}. */
export function filesPath(
  visit: Visit,
  query: { [Name in 'folder' | 'search' | 'after' | 'csrf']?: string | undefined } = {},
): string {
  const account = accountOf(visit);
  const all = { ...query, ...(account !== visit.viewer.email && { account }) };
  const given = Object.entries(all).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return given.length === 0 ? '/files' : `/files?${new URLSearchParams(given).toString()}`;
}

/** The folder of a file, with a slash at its end; empty for one that is in none. */
export function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf('/') + 1);
}

export function contentUrl({ fileId }: Pick<FileInfo, 'fileId'>): string {
  return `${BASE}/files/${fileId}/content`;
}

/** How a scene uses a file, if it can be said in a few lines of Python. */
export function usageOf({ name, kind }: Pick<FileInfo, 'name' | 'kind'>): string | undefined {
  const path = JSON.stringify(name);
  switch (kind) {
    case 'picture':
      return `self.add(ImageMobject(${path}))`;
    case 'drawing':
      return `self.add(SVGMobject(${path}))`;
    case 'sound':
      return `self.add_sound(${path})`;
    case 'font':
      return 'self.add(Text("Hello", font="Name of the family"))';
    case 'data':
      return kindOfName(name)?.extension === 'json'
        ? `with open(${path}) as file:\n    data = json.load(file)`
        : `with open(${path}) as file:\n    text = file.read()`;
    case 'tex':
      return texUsageOf(name);
    case 'module':
      return moduleUsageOf(name);
  }
}

function texUsageOf(name: string): string {
  const bare = name.slice(0, name.lastIndexOf('.'));
  switch (kindOfName(name)?.extension) {
    case 'cls':
      return `template = TexTemplate(documentclass=r"\\documentclass{${bare}}")\nself.add(Tex("Hello", tex_template=template))`;
    case 'sty':
      return `template = TexTemplate()\ntemplate.add_to_preamble(r"\\usepackage{${bare}}")\nself.add(Tex("Hello", tex_template=template))`;
    default:
      return `self.add(Tex(r"\\input{${name}}"))`;
  }
}

/** Undefined for a name that can't be imported. */
function moduleUsageOf(name: string): string | undefined {
  const parts = name.replace(/\.py$/i, '').split('/');
  if (!name.endsWith('.py') || !parts.every((part) => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(part)))
    return undefined;
  return `from ${parts.join('.')} import *`;
}

/** What plays or shows a file; undefined for a kind that browsers neither play nor show. */
export function playerOf(file: FileInfo): Value {
  const url = contentUrl(file);
  switch (file.kind) {
    case 'picture':
    case 'drawing':
      return html`<img class="shown" src="${url}" alt="${file.name}">`;
    case 'sound':
      return html`<audio controls preload="metadata" src="${url}"></audio>`;
    default:
      return undefined;
  }
}
