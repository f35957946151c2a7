import type { ServerRoute } from '@hapi/hapi';
import type { RenderService, ServiceProblem } from '../../lib/index.ts';
import { type SandboxLimits, SERVICE_STOPPING } from '../../lib/internal.ts';

/** The response of `/health/ready`. It is public, so it contains no paths, accounts or causes. */
export interface Readiness {
  status: 'ready' | 'not ready';
  /** Sandbox level; null until a renderer is warm. */
  sandbox: string | null;
  /** The mechanism that enforces the limits of a whole render: `kernel`, `user` or `watch`; null until a renderer is warm. */
  limits: SandboxLimits | null;
  /** A paused queue is not a problem: requests are still accepted. */
  queue: 'running' | 'paused';
  disk: 'ok' | 'full';
  /** Why the service isn't ready, and what to do; empty if it is. */
  problems: ServiceProblem[];
  /** Conditions that will become problems. */
  warnings: string[];
}

/**
 * - `/health/live`: 200 while the process responds. Restart it if it doesn't.
 * - `/health/ready`: 503 while render requests should be sent to another instance.
 */
export function healthRoutes(readiness: () => Readiness): ServerRoute[] {
  return [
    { method: 'GET', path: '/health/live', handler: () => ({ status: 'live' }) },
    {
      method: 'GET',
      path: '/health/ready',
      handler: (_request, h) => {
        const answer = readiness();
        return h
          .response(answer)
          .code(answer.status === 'ready' ? 200 : 503)
          .header('Cache-Control', 'no-store');
      },
    },
  ];
}

/** `isDraining`: the service is stopping. */
export function readinessOf(
  service: Pick<RenderService, 'status'>,
  { isDraining, warnings }: { isDraining: boolean; warnings: string[] },
): Readiness {
  const { problems, sandbox, queuePausedAt, diskFull, warnings: ofService } = service.status();
  const all = isDraining && problems.length === 0 ? [SERVICE_STOPPING] : problems;
  return {
    status: all.length === 0 ? 'ready' : 'not ready',
    sandbox: sandbox?.level ?? null,
    limits: sandbox?.limits ?? null,
    queue: queuePausedAt === null ? 'running' : 'paused',
    disk: diskFull ? 'full' : 'ok',
    problems: all,
    warnings: [...ofService, ...warnings],
  };
}
