import { createHash } from 'node:crypto';
import type { Quality, RenderRequest } from '../../../lib/index.ts';
import { isScenepressError, QUALITIES, ScenepressError } from '../../../lib/internal.ts';
import { MAX_BODY_BYTES } from '../../../lib/web/index.ts';
import type { JobDetails } from '../../admin/administration-views.ts';
import { texts } from '../language/texts.ts';
import type { Visit } from '../route.ts';
import { paramsIn } from './playground-parts.ts';

/** Each byte of the code may take three in a form. */
export const MOST_FORM_BYTES: number = 3 * MAX_BODY_BYTES + 16 * 1024;

/** The contents of the form. */
export interface Draft {
  code: string;
  /** Empty: the only scene of the code. */
  className: string;
  /** As far as they are known. */
  scenes: string[];
  quality: string;
  aspectRatio: string;
  /** Empty: the default of the quality. */
  fps: string;
  /** JSON; empty: none. */
  params: string;
}

/** The form as it was sent. */
export function draftIn(form: Record<string, string>): Draft {
  const { className = '', quality = 'medium', aspectRatio = '16:9', fps = '', params = '' } = form;
  const scenes = className === '' ? [] : [className];
  // Forms send line breaks as CR LF.
  const code = (form['code'] ?? '').replaceAll('\r\n', '\n');
  return { code, className, scenes, quality, aspectRatio, fps: fps.trim(), params };
}

/** What the form asks for; finds the only scene. Errors: `invalid_request`, and those of listing scenes. */
export async function requestOf({ admin, viewer }: Visit, draft: Draft): Promise<RequestOfForm> {
  requireCode(draft.code);
  if (draft.className === '') {
    const { scenes } = await admin.jobs.listScenes({ account: viewer.accountId, code: draft.code });
    draft.scenes = scenes;
    draft.className = onlyOne(scenes);
  }
  const { code, className, quality, aspectRatio, fps } = draft;
  const request = { code, className, quality, aspectRatio } as RequestOfForm;
  const params = paramsIn(draft.params);
  return { ...request, ...(fps !== '' && { fps: Number(fps) }), ...(params && { params }) };
}

/** What is rendered; its values are checked where it is. */
export type RequestOfForm = Required<Pick<RenderRequest, 'code' | 'className' | 'quality' | 'aspectRatio'>> &
  Pick<RenderRequest, 'fps'> & { params?: Readonly<Record<string, unknown>> };

/** The request of a job as the form has it. */
export function draftOfJob(job: JobDetails): Draft {
  const { className, quality, aspectRatio, fps } = job;
  return {
    code: job.code ?? '',
    ...{ className, scenes: [className], quality, aspectRatio },
    fps: fps === QUALITIES[quality as Quality].fps ? '' : String(fps),
    params: job.params === null ? '' : JSON.stringify(job.params),
  };
}

/** A job that the page showed; undefined if it shows none, or one that may not be seen. */
export async function shownBefore(
  { admin }: Visit,
  jobId: string | undefined,
): Promise<JobDetails | undefined> {
  if (!jobId) return undefined;
  return admin.jobs.showDetails({ jobId }).catch((error: unknown) => {
    if (!isScenepressError(error, 'not_found')) throw error;
    return undefined;
  });
}

/** The same form makes one job of the same request, also if it is sent twice. */
export function onceFor(once: string, request: object): string {
  return createHash('sha256')
    .update(JSON.stringify([once, request]))
    .digest('hex');
}

/**
 * Renders, and cancels the job that the page shows, if it has not ended: of two renders of one editor, only the later is
 * wanted, and would wait for the earlier.
 */
export async function renderInstead(
  { admin }: Visit,
  shown: JobDetails | undefined,
  { account, render }: { account: string; render: () => Promise<Pick<JobDetails, 'jobId'>> },
): Promise<string> {
  const isActive = shown?.status === 'queued' || shown?.status === 'running';
  const replaced = isActive && shown.account === account ? shown : undefined;
  const cancel = async () => {
    if (!replaced) return;
    await admin.jobs.cancel({ jobId: replaced.jobId }).catch((error: unknown) => {
      // It has ended meanwhile.
      if (!isScenepressError(error, 'conflict')) throw error;
    });
  };
  try {
    const { jobId } = await render();
    if (jobId !== replaced?.jobId) await cancel();
    return jobId;
  } catch (error) {
    // Its credits and its place become free.
    if (!replaced || !isScenepressError(error, 'insufficient_credits', 'queue_full')) throw error;
    await cancel();
    return (await render()).jobId;
  }
}

function onlyOne(scenes: string[]): string {
  const [scene, ...others] = scenes;
  if (scene === undefined) {
    throw new ScenepressError('invalid_request', texts().playground.noScene);
  }
  if (others.length > 0) {
    throw new ScenepressError('invalid_request', texts().playground.chooseScene(scenes.join(', ')));
  }
  return scene;
}

export function requireCode(code: string): void {
  const { playground: t } = texts();
  if (code.trim() === '') throw new ScenepressError('invalid_request', t.codeIsRequired);
  if (Buffer.byteLength(code) > MAX_BODY_BYTES) {
    throw new ScenepressError('invalid_request', t.codeIsTooLong(MAX_BODY_BYTES / 1024));
  }
}
