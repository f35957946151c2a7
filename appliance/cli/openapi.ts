import { Command } from 'commander';
import { openApiDocument } from '../openapi.ts';
import { printJson } from './output.ts';

/** `scenepress openapi` */
export function openApiCommand(): Command {
  return new Command('openapi')
    .description('Print the OpenAPI document of the HTTP API')
    .option('--json', 'it is JSON anyway')
    .action(() => printJson(openApiDocument()));
}
