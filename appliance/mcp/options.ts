import type { Engine } from './engine.ts';

/** The tools of an MCP server, and how they answer. */
export interface McpOptions {
  engine: Engine;
  /** Only the tools that change nothing and cost nothing: `guide` and `check`. */
  isReadOnly?: boolean;
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
