import { ASSIGNMENT_ROUTES } from './assignments.ts';
import { EVENT_ROUTES } from './events.ts';
import { FILE_ROUTES } from './files.ts';
import { JOB_ROUTES } from './jobs.ts';
import { KEPT_SCENE_ROUTES } from './kept-scenes.ts';
import { KEY_ROUTES } from './key.ts';
import { RENDER_ROUTES } from './renders.ts';
import type { ToolRoute } from './route.ts';
import { SCENE_VERSION_ROUTES } from './scene-versions.ts';
import { SCENE_ROUTES } from './scenes.ts';
import { SHARE_ROUTES } from './shares.ts';
import { USAGE_ROUTES } from './usage.ts';

/** All calls of the tools API. Servers and the OpenAPI document read this table. */
export const TOOL_ROUTES: readonly ToolRoute[] = [
  ...SCENE_ROUTES,
  ...RENDER_ROUTES,
  ...JOB_ROUTES,
  ...EVENT_ROUTES,
  ...FILE_ROUTES,
  ...SHARE_ROUTES,
  ...KEPT_SCENE_ROUTES,
  ...SCENE_VERSION_ROUTES,
  ...ASSIGNMENT_ROUTES,
  ...USAGE_ROUTES,
  ...KEY_ROUTES,
];

interface Found {
  route: ToolRoute;
  params: Record<string, string>;
}

const ROUTES = TOOL_ROUTES.map((route) => ({ route, parts: route.path.slice(1).split('/') }));

/** The route of a request, by the decoded segments of its path; undefined if there is none. */
export function routeOf(method: string, segments: readonly string[]): Found | undefined {
  const wanted = method === 'HEAD' ? 'GET' : method;
  for (const { route, parts } of ROUTES) {
    if (route.method !== wanted || parts.length !== segments.length) continue;
    const params: Record<string, string> = {};
    const fits = parts.every((part, at) => {
      const segment = segments[at] ?? '';
      if (!part.startsWith('{')) return part === segment;
      params[part.slice(1, -1)] = segment;
      return segment !== '';
    });
    if (fits) return { route, params };
  }
  return undefined;
}
