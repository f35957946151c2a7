import type { ServerRoute } from '@hapi/hapi';
import type { RenderService, SandboxLimits, ServiceProblem } from '../../lib/index.ts';

/** What `/health/ready` answers. It is open to everyone, so it names no paths, accounts or causes. */
export interface Readiness {
  status: 'ready' | 'not ready';
  /** The level; null until a renderer is warm. */
  sandbox: string | null;
  /** What holds the limits of a render as a whole: `kernel`, `user` or `watch`; null until a renderer is warm. */
  limits: SandboxLimits | null;
  /** Requests are taken on while the queue is paused, so that is no problem. */
  queue: 'running' | 'paused';
  disk: 'ok' | 'full';
  /** Why requests for renders are to go elsewhere, and what to do; empty when ready. */
  problems: ServiceProblem[];
  /** What will become a problem. */
  warnings: string[];
}

const DRAINING: ServiceProblem = {
  part: 'service',
  message: 'The service is stopping and takes no more jobs.',
};

/**
 * - `/health/live`: 200 while the process answers at all. Restart it when it doesn't.
 * - `/health/ready`: 503 while requests for renders are to go elsewhere.
 */
export function healthRoutes(options: {
  service: Pick<RenderService, 'status'>;
  /** Told to stop, and not yet stopped. */
  isDraining: () => boolean;
  warnings: () => string[];
}): ServerRoute[] {
  return [
    { method: 'GET', path: '/health/live', handler: () => ({ status: 'live' }) },
    {
      method: 'GET',
      path: '/health/ready',
      handler: (_request, h) => {
        const readiness = readinessOf(options.service, options.isDraining(), options.warnings());
        return h
          .response(readiness)
          .code(readiness.status === 'ready' ? 200 : 503)
          .header('Cache-Control', 'no-store');
      },
    },
  ];
}

function readinessOf(
  service: Pick<RenderService, 'status'>,
  isDraining: boolean,
  warnings: string[],
): Readiness {
  const { problems, sandbox, queuePausedAt, diskFull } = service.status();
  const all = isDraining && problems.length === 0 ? [DRAINING] : problems;
  return {
    status: all.length === 0 ? 'ready' : 'not ready',
    sandbox: sandbox?.level ?? null,
    limits: sandbox?.limits ?? null,
    queue: queuePausedAt === null ? 'running' : 'paused',
    disk: diskFull ? 'full' : 'ok',
    problems: all,
    warnings,
  };
}
