/**
 * Types of Node that the public types mention. In a project without `@types/node` they are `any`, without an error: all
 * other modules with public types import them from here.
 */

// biome-ignore lint/suspicious/noTsIgnore: it has no effect here, but in a project without @types/node.
/** @ts-ignore */
export type { Buffer } from 'node:buffer';
// biome-ignore lint/suspicious/noTsIgnore: as above.
/** @ts-ignore */
export type { IncomingMessage, ServerResponse } from 'node:http';
// biome-ignore lint/suspicious/noTsIgnore: as above.
/** @ts-ignore */
export type { Readable } from 'node:stream';
// biome-ignore lint/suspicious/noTsIgnore: as above.
/** @ts-ignore */
export type { ConnectionOptions as TlsOptions } from 'node:tls';
