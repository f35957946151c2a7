// Servers that a bundler has built, with the package as published: it works as an external package, and a bundled copy
// of it names the setting.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { installPackages } from '../../scripts/install-packages.ts';
import { installPacked, packPackage, runClean } from '../fixtures/packed-package.ts';

const PACKAGES = join(import.meta.dirname, 'node_modules');
const bin = (name: string) => join(PACKAGES, '.bin', name);
const SERVER = `
import { isScenepressError } from 'scenepress';
import { fakeRenderService } from 'scenepress/testing';
const service = fakeRenderService({ folder: './renders' });
await service.start();
const code = 'class Hello(Scene):\\n  pass\\n';
const { jobId } = await service.enqueue({ owner: 'me', className: 'Hello', code });
console.log((await service.wait(jobId)).status, isScenepressError(new Error()));
await service.stop();
`;

installPackages(import.meta.dirname, 'the frameworks of the examples');
const archive = await packPackage(t);
const folder = await installPacked(t, archive, PACKAGES, []);
await writeFile(join(folder, 'server.mjs'), SERVER);
// Without \`await\` at its top, for CommonJS.
await writeFile(
  join(folder, 'import.mjs'),
  "import { RenderService } from 'scenepress';\nnew RenderService({});\n",
);

const node = (file: string) => runClean([process.execPath, file], folder);

async function works(t: Test, file: string): Promise<void> {
  const { stdout } = await node(file);
  t.equal(stdout, 'completed false\n', file);
}

async function namesTheSetting(t: Test, file: string, setting: RegExp): Promise<void> {
  const error = await node(file).then(
    ({ stdout }) => ({ stderr: `it ran: ${stdout}` }),
    (error: { stderr: string }) => error,
  );
  t.match(error.stderr, /Error: scenepress must not be bundled, because .* Keep it external: /, file);
  t.match(error.stderr, setting);
}

t.test('esbuild', async (t) => {
  const build = (entry: string, output: string, ...options: string[]) =>
    runClean(
      [bin('esbuild'), entry, '--bundle', '--platform=node', `--outfile=${output}`, ...options],
      folder,
    );
  await build('server.mjs', 'esbuild.mjs', '--format=esm', '--external:scenepress');
  await works(t, 'esbuild.mjs');
  await build('import.mjs', 'bundled.mjs', '--format=esm', '--external:@hapi/*');
  await build('import.mjs', 'bundled.cjs', '--format=cjs', '--external:@hapi/*');
  for (const file of ['bundled.mjs', 'bundled.cjs'])
    await namesTheSetting(t, file, /external: \['scenepress'\] in that of esbuild/);
});

t.test('Vite, for servers', async (t) => {
  const build = (entry: string, output: string) =>
    runClean([bin('vite'), 'build', '--ssr', entry, '--outDir', output], folder);
  await build('server.mjs', 'vite');
  await works(t, 'vite/server.mjs');
  await writeFile(join(folder, 'vite.config.mjs'), 'export default { ssr: { noExternal: true } };');
  await build('import.mjs', 'vite-bundled');
  await namesTheSetting(t, 'vite-bundled/import.mjs', /ssr: \{ external: \['scenepress'\]/);
});

t.test('webpack', async (t) => {
  const build = async (entry: string, filename: string, externals: string) => {
    const isModule = filename.endsWith('.mjs');
    await writeFile(
      join(folder, 'build.cjs'),
      `require(${JSON.stringify(join(PACKAGES, 'webpack'))})({
         mode: 'none',
         target: 'node',
         entry: ${JSON.stringify(entry)},
         context: __dirname,
         experiments: { outputModule: ${isModule} },
         output: { path: __dirname, filename: ${JSON.stringify(filename)}, module: ${isModule} },
         ${externals}
       }, (error, stats) => {
         if (error || stats.hasErrors()) { console.log(error ?? stats.toString()); process.exit(1); } });`,
    );
    await node('build.cjs');
  };
  await build('./server.mjs', 'webpack.mjs', "externals: [/^scenepress(\\/|$)/], externalsType: 'module'");
  await works(t, 'webpack.mjs');
  await build('./server.mjs', 'webpack.cjs', "externals: [/^scenepress(\\/|$)/], externalsType: 'commonjs'");
  await works(t, 'webpack.cjs');
  const setting = /externals: \[\/\^scenepress\(\\\/\|\$\)\/\] and externalsType: 'module' .*'commonjs'/;
  for (const file of ['webpack-bundled.mjs', 'webpack-bundled.cjs']) {
    await build('./import.mjs', file, '');
    await namesTheSetting(t, file, setting);
  }
});
