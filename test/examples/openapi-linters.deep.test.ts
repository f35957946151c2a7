import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openApiDocument } from '../../lib/web/openapi/render-document.ts';
import { toolsDocument } from '../../lib/web/tools/document.ts';
import { installPackages } from '../../scripts/install-packages.ts';
import { emptyFolder, runClean } from '../fixtures/packed-package.ts';

const bin = (name: string) => join(import.meta.dirname, 'node_modules/.bin', name);

installPackages(import.meta.dirname, 'the linters of OpenAPI documents');

const DOCUMENTS = { 'the render API': openApiDocument, 'the tools API': toolsDocument };
const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
const REDOCLY = [bin('redocly'), 'lint', 'openapi.json', '--format', 'stylish'];
const SPECTRAL = [bin('spectral'), 'lint', 'openapi.json', '--fail-severity', 'hint'];

async function folderOf(t: Test, document: object): Promise<string> {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(document));
  await writeFile(join(folder, 'redocly.yaml'), 'extends: [recommended-strict]\n');
  await writeFile(join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n');
  return folder;
}

for (const [api, document] of Object.entries(DOCUMENTS))
  t.test(`redocly and spectral find nothing in the OpenAPI document of ${api}`, async (t) => {
    const folder = await folderOf(t, document('https://renders.example.org'));
    for (const linter of [REDOCLY, SPECTRAL])
      await runClean(linter, folder, env).catch(({ stdout, stderr }) => t.fail(stdout + stderr));
  });

t.test('redocly and spectral find what is missing', async (t) => {
  const folder = await folderOf(t, { openapi: '3.1.0', paths: {} });
  const complaints = (command: string[]) =>
    runClean(command, folder, env).catch(({ stdout, stderr }) => stdout + stderr);
  t.match(await complaints(REDOCLY), /The field `info` must be present/);
  t.match(await complaints(SPECTRAL), /must have required property "info"/);
});
