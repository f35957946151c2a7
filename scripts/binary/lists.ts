import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

/** In the program, too: they bring it from Node's start to its first file. */
const OF_PKG = ['node_modules/@roberts_lando/vfs', 'node_modules/@yao-pkg/pkg'];

const HEAD = `${'='.repeat(100)}\n`;

/** Folders of the npm packages that a bundle is made of. */
export function packagesOf({ inputs }: Metafile): string[] {
  const folders = Object.keys(inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  return [...new Set([...folders, ...OF_PKG])].sort();
}

/**
 * Writes `manifest.json` and `THIRD-PARTY.txt` of the executable: those of the renderer root, Node, and the npm packages
 * in the program.
 */
export function writeLists(
  root: { manifest: string; notices: string },
  packages: string[],
  { project, output }: { project: string; output: string },
): void {
  const added = [
    node(join(project, 'node_modules/node')),
    ...packages.map((it) => packageIn(join(project, it))),
  ];
  const manifest = JSON.parse(readFileSync(root.manifest, 'utf8')) as { parts: object[] };
  const parts = [...manifest.parts, ...added.map(({ part }) => part)];
  writeFileSync(join(output, 'manifest.json'), `${JSON.stringify({ ...manifest, parts }, null, 1)}\n`);
  const notices = [readFileSync(root.notices, 'utf8'), ...added.map(({ notice }) => notice)];
  writeFileSync(join(output, 'THIRD-PARTY.txt'), notices.join('\n'));
}

/** Its package comes without the text, which is as long as all others together. */
function node(folder: string): { part: object; notice: string } {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  const text = `https://github.com/nodejs/node/blob/v${version}/LICENSE`;
  return {
    part: { kind: 'program', name: 'node', version, licence: 'MIT' },
    notice: `${HEAD}Node.js ${version}, under the MIT licence, and what it includes, under theirs: ${text}\n`,
  };
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
