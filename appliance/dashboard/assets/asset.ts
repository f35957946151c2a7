import { hash } from 'node:crypto';
import { BASE } from '../route.ts';

/** A file that the dashboard serves to everyone. */
export interface Asset {
  /** Contains a hash of the content, so it can be cached forever. */
  path: string;
  type: string;
  content: string | Buffer;
}

export function asset(name: string, extension: string, type: string, content: string | Buffer): Asset {
  const digest = hash('sha256', content).slice(0, 16);
  return { path: `${BASE}/assets/${name}.${digest}.${extension}`, type, content };
}
