import type { Route } from '../route.ts';
import type { RouteParts } from '../routes.ts';

/** Server-sent events, for open pages, and pictures of running jobs. */
export function liveRoutes({ live }: Pick<RouteParts, 'live'>): Route[] {
  return [
    {
      method: 'GET',
      path: '/live',
      for: 'members',
      handler: async ({ viewer, request, h }) => ({
        response: h
          // The stream of a HEAD request would never end.
          .response(request.method === 'head' ? '' : live.open(viewer))
          .type('text/event-stream')
          // Proxies such as nginx would hold events back.
          .header('X-Accel-Buffering', 'no'),
      }),
    },
    {
      method: 'GET',
      path: '/jobs/{jobId}/picture',
      for: 'members',
      async handler({ admin, params, h }) {
        const { jobId, status } = await admin.jobs.show({ jobId: params['jobId'] ?? '' });
        const picture = status === 'running' ? live.pictureOf(jobId) : undefined;
        return {
          response: (picture
            ? h.response(Buffer.from(picture)).type('image/jpeg')
            : h.response().code(204)
          ).header('Cache-Control', 'no-store'),
        };
      },
    },
  ];
}
