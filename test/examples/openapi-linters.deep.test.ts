import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { openApiDocument } from '../../lib/web/openapi/render-document.ts';
import { installPackages } from '../../scripts/install-packages.ts';
import { emptyFolder, runClean } from '../fixtures/packed-package.ts';

const bin = (name: string) => join(import.meta.dirname, 'node_modules/.bin', name);

installPackages(import.meta.dirname, 'the linters of OpenAPI documents');

t.test('redocly and spectral find nothing in the OpenAPI document', async (t) => {
  const folder = await emptyFolder(t);
  await writeFile(
    join(folder, 'openapi.json'),
    JSON.stringify(openApiDocument('https://renders.example.org')),
  );
  await writeFile(join(folder, 'redocly.yaml'), 'extends: [recommended-strict]\n');
  await writeFile(join(folder, '.spectral.yaml'), 'extends: ["spectral:oas"]\n');
  const redocly = [bin('redocly'), 'lint', 'openapi.json', '--format', 'stylish'];
  const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  await runClean(redocly, folder, env).catch(({ stdout, stderr }) => t.fail(stdout + stderr));
  const spectral = [bin('spectral'), 'lint', 'openapi.json', '--fail-severity', 'hint'];
  await runClean(spectral, folder).catch(({ stdout, stderr }) => t.fail(stdout + stderr));
  await writeFile(join(folder, 'openapi.json'), JSON.stringify({ openapi: '3.1.0', paths: {} }));
  const complaints = (command: string[]) =>
    runClean(command, folder, env).catch(({ stdout, stderr }) => stdout + stderr);
  t.match(await complaints(redocly), /The field `info` must be present/);
  t.match(await complaints(spectral), /must have required property "info"/);
});
