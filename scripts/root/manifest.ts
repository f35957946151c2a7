import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BuildError } from './build-error.ts';
import { bundledLibraries } from './bundled.ts';
import type { LockedDeb } from './lock-file.ts';

/** A package in the root, as the manifest has it. */
interface Part {
  /** `library`: one that a Python package brings along. */
  kind: 'debian' | 'python' | 'library';
  name: string;
  version: string;
  /** SPDX expression, or `NOASSERTION`: see the notices. */
  licence: string;
}

const FOLDER = 'usr/share/scenepress';

/** Writes `manifest.json` and `THIRD-PARTY.txt` into the tree and beside what is built. */
export function writeManifest({
  tree,
  work,
  pythonPackages,
}: {
  tree: string;
  work: string;
  pythonPackages: string;
}): void {
  const debs = JSON.parse(readFileSync(join(work, 'packages.json'), 'utf8')) as LockedDeb[];
  const debian = debs.map(({ name, version, licence }): Part => ({ kind: 'debian', name, version, licence }));
  const python = readdirSync(pythonPackages)
    .filter((name) => name.endsWith('.dist-info'))
    .sort()
    .map((name) => pythonPart(join(pythonPackages, name)));
  const texts = JSON.parse(readFileSync(join(work, 'notices.json'), 'utf8')) as (LockedDeb & {
    text?: string;
  })[];
  const libraries = bundledLibraries(pythonPackages).map(({ name, wheel, noticesOf }): Part => {
    const deb = [...debs, ...texts].find((deb) => deb.name === noticesOf);
    if (!deb) throw new BuildError(`The lock has no ${noticesOf}: run \`npm run lock:root\`.`);
    return { kind: 'library', name, version: `of ${wheel}`, licence: deb.licence };
  });
  const parts = [...debian, ...python.map(({ part }) => part), ...libraries];
  const notices = [
    'Notices of the programs, libraries and fonts in the renderer of Scenepress, in their own words.\n',
    ...debs.map(({ name, version }) => notice(`${name} ${version} (Debian)`, debianTexts(tree, name))),
    ...python.map(({ part, texts }) => notice(`${part.name} ${part.version} (Python)`, texts)),
    ...texts.map(({ name, text }) =>
      notice(`Libraries in Python packages, as in ${name} (Debian)`, text ? [text] : []),
    ),
    ...commonLicences(tree),
  ].join('\n');
  mkdirSync(join(tree, FOLDER), { recursive: true });
  for (const folder of [join(tree, FOLDER), work]) {
    writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify({ parts }, null, 1)}\n`);
    writeFileSync(join(folder, 'THIRD-PARTY.txt'), notices);
  }
}

function pythonPart(folder: string): { part: Part; texts: string[] } {
  const metadata = readFileSync(join(folder, 'METADATA'), 'utf8').split('\n\n')[0] ?? '';
  const field = (name: string) => metadata.match(new RegExp(`^${name}: (.*)$`, 'mi'))?.[1];
  const licence = field('License-Expression') ?? classified(metadata) ?? field('License') ?? 'NOASSERTION';
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const texts = files
    .filter((name) => /licen[cs]e|copying|notice|authors/i.test(name) && /[^/]\.?\w*$/.test(name))
    .flatMap((name) => readIfFile(join(folder, name)));
  return {
    part: {
      kind: 'python',
      name: field('Name') ?? '',
      version: field('Version') ?? '',
      licence: licence.trim(),
    },
    texts,
  };
}

const CLASSIFIERS: Record<string, string> = {
  'MIT License': 'MIT',
  'BSD License': 'BSD-3-Clause',
  'Apache Software License': 'Apache-2.0',
  'Mozilla Public License 2.0 (MPL 2.0)': 'MPL-2.0',
  'Python Software Foundation License': 'PSF-2.0',
  'ISC License (ISCL)': 'ISC',
};

function classified(metadata: string): string | undefined {
  const names = [...metadata.matchAll(/^Classifier: License :: OSI Approved :: (.*)$/gm)];
  const known = names.map(([, name]) => CLASSIFIERS[name as string]);
  return known.length > 0 && !known.includes(undefined) ? known.join(' AND ') : undefined;
}

function debianTexts(tree: string, name: string): string[] {
  return readIfFile(join(tree, 'usr/share/doc', name, 'copyright'));
}

function commonLicences(tree: string): string[] {
  const folder = join(tree, 'usr/share/common-licenses');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => notice(`/usr/share/common-licenses/${name}`, readIfFile(join(folder, name))));
}

function readIfFile(path: string): string[] {
  try {
    return [readFileSync(path, 'utf8')];
  } catch {
    return [];
  }
}

function notice(title: string, texts: string[]): string {
  return `${'='.repeat(100)}\n${title}\n\n${texts.join('\n') || '(no text of its own)'}\n`;
}
