import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BuildError } from './build-error.ts';
import { bundledLibraries, NOTICES_ELSEWHERE, PYTHON_NOTICES_OF } from './bundled.ts';
import { copyrightOf } from './licences.ts';
import type { FetchedDeb } from './lock-file.ts';

/** A component of the root in the manifest. */
interface Part {
  /** `library`: a library bundled in a Python package. */
  kind: 'debian' | 'python' | 'library';
  name: string;
  version: string;
  /** SPDX expression, or `NOASSERTION`: see the notices. */
  licence: string;
}

const FOLDER = 'usr/share/scenepress';

/** Writes `manifest.json` and `THIRD-PARTY.txt` into the tree and beside the build output. */
export function writeManifest({
  tree,
  work,
  pythonPackages,
}: {
  tree: string;
  work: string;
  pythonPackages: string;
}): void {
  const all = JSON.parse(readFileSync(join(work, 'packages.json'), 'utf8')) as FetchedDeb[];
  const [debs, others] = (['root', 'notices'] as const).map((stage) =>
    all.filter((deb) => deb.stage === stage),
  ) as [FetchedDeb[], FetchedDeb[]];
  const debNamed = (name: string): FetchedDeb => {
    const deb = [...debs, ...others].find((deb) => deb.name === name);
    if (!deb) throw new BuildError(`${name} is missing in the lock: run \`npm run lock:root\`.`);
    return deb;
  };
  const textOf = (deb: FetchedDeb) => debianText(deb, tree, join(work, 'notices'));
  const debian = debs.map(({ name, version, licence }): Part => ({ kind: 'debian', name, version, licence }));
  const python = readdirSync(pythonPackages)
    .filter((name) => name.endsWith('.dist-info'))
    .sort()
    .map((name) => pythonPart(join(pythonPackages, name)));
  const libraries = bundledLibraries(pythonPackages).map(({ name, wheel, noticesOf }): Part => {
    const { licence } = debNamed(noticesOf);
    return { kind: 'library', name, version: `of ${wheel}`, licence };
  });
  const parts = [...debian, ...python.map(({ part }) => part), ...libraries];
  const pythonTexts = ({ part, texts }: (typeof python)[number]) => {
    const elsewhere = PYTHON_NOTICES_OF[part.name];
    return texts.length === 0 && elsewhere ? [textOf(debNamed(elsewhere))] : texts;
  };
  const notices = [
    'Notices of the programs, libraries and fonts in the renderer of Scenepress, in their own words.\n',
    ...debs.map((deb) => notice(`${deb.name} ${deb.version} (Debian)`, [textOf(deb)])),
    ...python.map((it) => notice(`${it.part.name} ${it.part.version} (Python)`, pythonTexts(it))),
    ...others.map((deb) => notice(`Of Python packages, as in ${deb.name} (Debian)`, [textOf(deb)])),
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

/** Prefers the tree's file, which may be a link to another package's; packages installed first may lack theirs. */
function debianText({ name, path }: FetchedDeb, tree: string, work: string): string {
  const elsewhere = NOTICES_ELSEWHERE[name];
  if (elsewhere !== undefined) return `See ${elsewhere}.`;
  const [text = copyrightOf(path, work)] = readIfFile(join(tree, 'usr/share/doc', name, 'copyright'));
  if (text === undefined)
    throw new BuildError(
      `The source of the notices of ${name} is unknown: add it to scripts/root/bundled.ts.`,
    );
  return text;
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
  if (texts.length === 0)
    throw new BuildError(
      `The source of the notices of ${title} is unknown: add it to scripts/root/bundled.ts.`,
    );
  return `${'='.repeat(100)}\n${title}\n\n${texts.join('\n')}\n`;
}
