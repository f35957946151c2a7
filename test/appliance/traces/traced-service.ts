import { join } from 'node:path';
import type { Test } from 'tap';
import type { TestAuthority } from '../../fixtures/certificates.ts';
import { type Serving, serve } from '../command.ts';
import { send } from '../listening-appliance.ts';

export const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
/** The span of the client. */
export const CLIENT_SPAN = 'b7ad6b7169203331';
export const TRACEPARENT: string = `00-${TRACE_ID}-${CLIENT_SPAN}-01`;

const INSTANT = {
  SCENEPRESS_PYTHON: join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python'),
  SCENEPRESS_INSECURE_NO_SANDBOX: 'true',
  SCENEPRESS_CREDITS_MODE: 'unmetered',
};

/** A service with the key of its first start. */
export interface TracedService extends Serving {
  key: string;
  /** Adds a job with a `traceparent`; its id. */
  add: (request: object) => Promise<string>;
}

/** A service whose renders take no time, with variables of OpenTelemetry. `authority`: that of the receiver of webhooks. */
export async function tracedService(
  t: Test,
  {
    dataDir,
    key: known,
    env,
    authority,
  }: { dataDir: string; key?: string; env: Record<string, string>; authority?: TestAuthority },
): Promise<TracedService> {
  const webhooks = authority && {
    SCENEPRESS_WEBHOOKS_ALLOW_NETWORKS: '127.0.0.0/8',
    SCENEPRESS_WEBHOOKS_CA: authority.caFile,
  };
  const serving = await serve(t, ['--data-dir', dataDir], { env: { ...INSTANT, ...webhooks, ...env } });
  const key = known ?? /svc_live_\w{48}/.exec(serving.stdout())?.[0] ?? '';
  const add = async (request: object) => {
    const { json } = await send(serving.port, '/api/v2/render', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, traceparent: TRACEPARENT },
      body: JSON.stringify({ className: 'Hello', quality: 'low', ...request }),
    });
    return String(json['jobId']);
  };
  return { ...serving, key, add };
}
