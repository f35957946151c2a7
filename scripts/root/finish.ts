/**
 * Makes an installed tree a renderer root and packs it: called by `build.ts`, as root of the tree.
 *
 * Adds the Python packages, cuts what no render needs, compiles, makes links relative (so that they hold wherever
 * the root lies), gives every file one owner and one time, and writes down what is in it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkLibraries } from './check-libraries.ts';
import { EPOCH_SECONDS } from './epoch.ts';
import { writeManifest } from './manifest.ts';
import { KEPT, normalise } from './normalise.ts';
import { trim } from './trim.ts';

const tree = process.argv[2] as string;
const { OUT, WORK, PYTHON, LEVEL } = process.env as Record<string, string>;
const PYTHON_PACKAGES = 'usr/local/lib/python3.13/dist-packages';

rmSync(join(tree, 'var/cache/apt'), { recursive: true, force: true });
mkdirSync(join(tree, PYTHON_PACKAGES), { recursive: true });
execFileSync('tar', ['-C', join(tree, PYTHON_PACKAGES), '-xf', PYTHON as string]);
writeManifest({ tree, work: WORK as string, pythonPackages: join(tree, PYTHON_PACKAGES) });

// What is compiled is trusted without looking at its source's time, which unpacking doesn't keep for sure.
inTree('find / -xdev -name __pycache__ -type d -prune -exec rm -rf {} +');
inTree(
  'python3 -W ignore -m compileall -q --invalidation-mode unchecked-hash -j 0 /usr/lib/python3.13 ' +
    `/usr/lib/python3 /${PYTHON_PACKAGES} || true`,
);
const cut = trim(tree);
for (const { what, megabytes } of cut) console.log(`  cut ${String(megabytes).padStart(5)} MB  ${what}`);
checkLibraries(tree);
inTree('mktexlsr --quiet');
normalise(tree, EPOCH_SECONDS);
// After the times are set: it holds those of the folders with fonts.
inTree('fc-cache -sf');
normalise(tree, EPOCH_SECONDS);

const manifest = join(WORK as string, 'manifest.json');
const unpackedBytes = sizeOf(KEPT.map((folder) => join(tree, folder)));
const { parts } = JSON.parse(readFileSync(manifest, 'utf8')) as { parts: unknown[] };
writeFileSync(manifest, `${JSON.stringify({ unpackedBytes, cut, parts }, null, 1)}\n`);

const tar = spawnSync(
  'sh',
  [
    '-c',
    'tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@"$2" --format=gnu --no-xattrs --no-acls ' +
      '-c $5 | zstd -q -T0 -"$3" --no-progress -o "$4"',
    'sh',
    tree,
    String(EPOCH_SECONDS),
    LEVEL as string,
    OUT as string,
    KEPT.join(' '),
  ],
  { stdio: 'inherit' },
);
if (tar.status !== 0) throw new Error('The root could not be packed.');

/** Room on a disk, in bytes. */
function sizeOf(folders: string[]): number {
  const total = execFileSync('du', ['--summarize', '--total', '--block-size=1', ...folders], {
    encoding: 'utf8',
  });
  return Number(total.trimEnd().split('\n').at(-1)?.split('\t')[0]);
}

function inTree(command: string): void {
  const { status } = spawnSync('chroot', [tree, 'sh', '-c', command], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`In the tree, this ended with status ${status}: ${command}`);
}
