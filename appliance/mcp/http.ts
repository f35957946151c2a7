import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Logger } from '../../lib/index.ts';
import { answerTo, isLogged } from '../../lib/web/index.ts';
import type { McpOptions } from './options.ts';
import { createMcpServer } from './server.ts';
import { ServiceEngine, type ServiceEngineOptions } from './service-engine.ts';

/** Options of {@link answerMcp}. */
export interface McpAnswerOptions
  extends ServiceEngineOptions,
    Pick<McpOptions, 'isReadOnly' | 'hasPictures' | 'waitMs' | 'stopping'> {
  /** The causes of errors that clients are not told. */
  logger: Logger;
  requestId: string;
}

/**
 * Answers a request of an authenticated caller over MCP's streamable HTTP. Each request is independent, so that any
 * machine can answer it.
 */
export function answerMcp(request: Request, options: McpAnswerOptions): Promise<Response> {
  const { isReadOnly, hasPictures, waitMs, stopping, logger, requestId } = options;
  const explain = (error: unknown) => {
    if (isLogged(error)) logger.error({ requestId, err: error }, 'An MCP tool failed.');
    const { message, error: summary } = answerTo(error).body;
    return message ?? summary;
  };
  const handler = createMcpHandler(
    () =>
      createMcpServer({
        engine: new ServiceEngine(options),
        explain,
        scopes: options.caller.scopes,
        ...(isReadOnly !== undefined && { isReadOnly }),
        ...(hasPictures !== undefined && { hasPictures }),
        ...(waitMs !== undefined && { waitMs }),
        ...(stopping && { stopping }),
      }),
    {
      maxSubscriptions: 0,
      onerror: (err) => logger.debug({ requestId, err }, 'An MCP request was rejected.'),
    },
  );
  return handler.fetch(request);
}
