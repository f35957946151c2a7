import type { KeyScope } from '../../lib/web/index.ts';
import type { Engine } from './engine.ts';

/** The tools of an MCP server, and how they answer. */
export interface McpOptions {
  engine: Engine;
  /** Only the tools that change nothing and cost nothing: `guide` and `check`. */
  isReadOnly?: boolean;
  /** What the caller's key may do; default: everything. Other tools are left out. */
  scopes?: readonly KeyScope[] | undefined;
  /** Whether results have pictures; default true. */
  hasPictures?: boolean;
  /** How long a call waits for a render; default {@link WAIT_MS}. */
  waitMs?: number;
  /** The message of an error for the client. */
  explain: (error: unknown) => string;
  /** Ends waits: renders continue. */
  stopping?: AbortSignal;
}

/** As clients end calls after a minute. */
export const WAIT_MS = 50_000;

/** Whether the caller may do something of this kind. */
export function may({ scopes }: McpOptions, ...anyOf: KeyScope[]): boolean {
  return scopes === undefined || anyOf.some((scope) => scopes.includes(scope));
}
