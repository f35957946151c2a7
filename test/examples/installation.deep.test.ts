// Installs the package as published with npm, as the READMEs say.
import { cp, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import { emptyFolder, packPackage, runClean } from '../fixtures/packed-package.ts';

const archive = await packPackage(t);
const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'));

t.test('npm install in an empty folder', async (t) => {
  const folder = await emptyFolder(t);
  await runClean(['npm', 'install', archive], folder);
  t.equal((await runClean(['npx', 'scenepress', '--version'], folder)).stdout, `${version}\n`);
  const installed = join(folder, 'node_modules/scenepress');
  await cp(join(installed, 'test/examples/commonjs/main.cjs'), join(folder, 'main.cjs'));
  t.equal((await runClean([process.execPath, 'main.cjs'], folder)).stdout, 'true\ncompleted\ntrue\n');
});

t.test('the pages in the package link to files that are in it', async (t) => {
  const folder = await emptyFolder(t);
  await runClean(['tar', '--extract', '--file', archive, '--strip-components=1'], folder);
  // These describe what is in a checkout only.
  const ofCheckouts = [
    '.github/CONTRIBUTING.md',
    '.github/SECURITY.md',
    'scripts/README.md',
    'test/README.md',
  ];
  const dead: string[] = [];
  for (const page of await readdir(folder, { recursive: true })) {
    if (!page.endsWith('.md') || ofCheckouts.includes(page)) continue;
    const text = (await readFile(join(folder, page), 'utf8')).replaceAll(/^```.*?^```/gms, '');
    for (const [, link = ''] of text.matchAll(/(?:\]\(|src=")(?!https?:)([^)#\s"]+)/g))
      if (!(await stat(join(folder, dirname(page), link)).catch(() => false))) dead.push(`${page}: ${link}`);
  }
  t.same(dead, []);
});

t.test('npm install --global', async (t) => {
  const prefix = await emptyFolder(t);
  await runClean(['npm', 'install', '--global', '--prefix', prefix, archive], prefix);
  const command = join(prefix, 'bin/scenepress');
  t.equal((await runClean([command, '--version'], await emptyFolder(t))).stdout, `${version}\n`);
});
