import type { Route } from '../route.ts';
import type { RouteParts } from '../routes.ts';

/** Server-sent events, for open pages. */
export function liveRoutes({ live }: Pick<RouteParts, 'live'>): Route[] {
  return [
    {
      method: 'GET',
      path: '/live',
      for: 'members',
      handler: async ({ viewer, request, h }) => ({
        response: h
          // Nobody would end the stream of a HEAD request.
          .response(request.method === 'head' ? '' : live.open(viewer))
          .type('text/event-stream')
          // Proxies such as nginx would hold events back.
          .header('X-Accel-Buffering', 'no'),
      }),
    },
  ];
}
