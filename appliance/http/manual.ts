import { hash } from 'node:crypto';
import { notFound } from '@hapi/boom';
import type { ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import type { Addresses } from '../config/addresses.ts';
import { readText } from '../packed/texts.ts';
import { withServedLinks } from './manual-links.ts';
import { MANUAL, MANUAL_PATHS } from './manual-pages.ts';

const BASE = '/manual';
const SUMMARY = `# Scenepress

> A self-hosted render service for Python math animations: post Manim source code with a scene class, and get an MP4, a JPEG
> thumbnail and WebVTT captions.

Scenes are written for Manim Community, run in a sandbox, and have no network. Requests need an API key. With the command
\`scenepress\`, scenes are checked, inspected and rendered without a service; \`scenepress skill install\` gives a project
the pages under “Writing scenes”.
`;

/** `/llms.txt` (https://llmstxt.org) and the pages of the manual as Markdown, for programs and people without a key. */
export function manualRoutes(addresses: Addresses): ServerRoute[] {
  const served = new Set(MANUAL_PATHS);
  const texts = new Map<string, string>();
  return [
    {
      method: 'GET',
      path: '/llms.txt',
      handler: (request, h) => cached(h, listOf(addresses.publicUrl(request)), 'text/plain'),
    },
    {
      method: 'GET',
      path: `${BASE}/{path*}`,
      handler: async (request, h) => {
        const path = String(request.params['path'] ?? '');
        // Only listed paths are read, so none leads to another file.
        if (!served.has(path)) throw notFound();
        return cached(h, await textOf(path), 'text/markdown');
      },
    },
  ];

  async function textOf(path: string): Promise<string> {
    const known = texts.get(path);
    if (known !== undefined) return known;
    const text = withServedLinks(await readText(path), path, (other) => served.has(other));
    texts.set(path, text);
    return text;
  }
}

function listOf(publicUrl: string): string {
  const sections = Object.entries(MANUAL).map(([title, pages]) => {
    const lines = pages.map((it) => `- [${it.title}](${publicUrl}${BASE}/${it.path}): ${it.about}`);
    const others = title === 'HTTP API' ? [openApi(publicUrl)] : [];
    return `## ${title}\n\n${[...others, ...lines].join('\n')}\n`;
  });
  return [SUMMARY, ...sections].join('\n');
}

function openApi(publicUrl: string): string {
  return `- [OpenAPI document](${publicUrl}/openapi.json): the render API in machine-readable form`;
}

function cached(h: ResponseToolkit, text: string, type: string): ResponseObject {
  return h
    .response(text)
    .type(`${type}; charset=utf-8`)
    .etag(hash('sha256', text).slice(0, 32))
    .header('Cache-Control', 'public, max-age=3600')
    .header('X-Content-Type-Options', 'nosniff');
}
