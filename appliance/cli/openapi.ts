import { Command } from 'commander';
import { openApiDocument, toolsDocument } from '../../lib/web/index.ts';
import { addExamples } from './describe.ts';
import { printJson } from './output.ts';

/** `scenepress openapi` */
export function openApiCommand(): Command {
  const command = new Command('openapi')
    .description('Print the OpenAPI document of the HTTP API')
    .option('--tools', 'print that of the tools API instead')
    .option('--json', 'no effect: the output is always JSON')
    .action(({ tools }: { tools?: true }) => printJson(tools ? toolsDocument() : openApiDocument()));
  return addExamples(command, 'scenepress openapi > openapi.json', 'scenepress openapi --tools');
}
