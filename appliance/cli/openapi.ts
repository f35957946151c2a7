import { Command } from 'commander';
import { openApiDocument } from '../../lib/web/index.ts';
import { addExamples } from './describe.ts';
import { printJson } from './output.ts';

/** `scenepress openapi` */
export function openApiCommand(): Command {
  const command = new Command('openapi')
    .description('Print the OpenAPI document of the HTTP API')
    .option('--json', 'no effect: the output is always JSON')
    .action(() => printJson(openApiDocument()));
  return addExamples(command, 'scenepress openapi > openapi.json');
}
