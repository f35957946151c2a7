import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Test } from 'tap';
import { answerMcp, type McpAnswerOptions } from '../../../appliance/mcp/http.ts';
import type { RenderService } from '../../../lib/index.ts';
import { silentLogger } from '../../../lib/internal.ts';

/** A revision of the protocol, as a client negotiates it. */
export type Revision = '2025-11-25' | '2026-07-28';
export const REVISIONS: readonly Revision[] = ['2025-11-25', '2026-07-28'];
export const ASSET_URL = 'https://renders.example.org';

export function newClient(revision: Revision): Client {
  const mode = revision === '2025-11-25' ? 'legacy' : { pin: revision };
  return new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
}

/** A client of an address over HTTP. */
export async function httpClient(
  t: Test,
  url: string,
  {
    revision = '2026-07-28',
    headers = {},
    fetch,
  }: { revision?: Revision; headers?: Record<string, string>; fetch?: typeof globalThis.fetch } = {},
): Promise<Client> {
  const client = newClient(revision);
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    ...(fetch && { fetch }),
  });
  t.teardown(() => client.close());
  await client.connect(transport);
  return client;
}

/** A client of a service, without a server between them. */
export async function serviceClient(
  t: Test,
  service: RenderService,
  {
    owner = 'ada',
    revision = '2026-07-28',
    ...options
  }: { owner?: string; revision?: Revision } & Partial<McpAnswerOptions> = {},
): Promise<Client> {
  const caller = { owner, keyId: null, keyPrefix: owner, webhookUrl: null };
  const answer = {
    service,
    caller,
    assetUrl: ASSET_URL,
    logger: silentLogger,
    requestId: 'test',
    ...options,
  };
  const fetch: typeof globalThis.fetch = (input, init) => answerMcp(new Request(input, init), answer);
  return httpClient(t, `${ASSET_URL}/mcp`, { revision, fetch });
}

/** The text of a result. */
export function textOf({ content }: Awaited<ReturnType<Client['callTool']>>): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

export const SCENE = 'from manim import *\nclass Hello(Scene):\n    def construct(self): ...\n';
