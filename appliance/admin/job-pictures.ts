import { buffer } from 'node:stream/consumers';
import type { Finding, RenderService } from '../../lib/index.ts';
import { type InspectRequest, ScenepressError } from '../../lib/internal.ts';

/** What was found in one scene, as plain data. */
export interface InspectionInfo {
  /** Null when it fails. */
  scene: { className: string; plays: number; seconds: number } | null;
  findings: Finding[];
  creditsCost: number;
  /** Names its pictures; null when it fails. */
  snapshotId: string | null;
  pictures: { number: number; play: number | null; seconds: number }[];
}

/** How long an inspection may take, which a person waits for. */
const INSPECT_WITHIN_MS = 60_000;

/** Inspects a scene for an account. */
export async function inspectionOf(
  service: Pick<RenderService, 'inspect'>,
  code: string,
  request: InspectRequest & { className: string },
): Promise<InspectionInfo> {
  const signal = AbortSignal.timeout(INSPECT_WITHIN_MS);
  try {
    const { findings, scenes } = await service.inspect(code, { ...request, signal });
    const [scene] = scenes;
    if (!scene) return { scene: null, findings, creditsCost: 0, snapshotId: null, pictures: [] };
    const { className, plays, seconds, creditsCost, snapshotId } = scene;
    const pictures = scene.pictures.map(({ number, play, seconds }) => ({ number, play, seconds }));
    return {
      scene: { className, plays: plays.length, seconds },
      findings,
      creditsCost,
      snapshotId,
      pictures,
    };
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    if (!isLate) throw error;
    const message = 'The inspection took longer than a minute. Nothing was charged. Try again later.';
    throw new ScenepressError('not_running', message);
  }
}

/** A picture of an inspection, in base64. */
export async function pictureOf(
  service: Pick<RenderService, 'openPicture'>,
  snapshotId: string,
  name: string,
  owner: string,
): Promise<{ contentType: string; base64: string }> {
  const { stream, contentType } = await service.openPicture(snapshotId, name, { owner });
  return { contentType, base64: (await buffer(stream)).toString('base64') };
}
