import { notFound } from '@hapi/boom';
import type { SceneDetails } from '../../admin/scene-views.ts';
import { utcText } from '../format.ts';
import { texts } from '../language/texts.ts';
import type { Visit } from '../route.ts';
import { type ShownSettings, settingsOf } from './scene-views.ts';

/** Versions that are offered for a comparison: the newest. */
const OFFERED = 100;

/** One of two that are compared: a draft or a version, with its settings. */
export interface Side extends ShownSettings {
  code: string;
  /** What it is, for people. */
  label: string;
  /** What restores it; undefined for the current draft. */
  from?: { version: number } | { draft: number };
}

/**
 * A draft or a version by its name in a URL: `draft` is the current draft, `d12` the draft of revision 12, `v3` the third
 * version. Error: `not_found`.
 */
export async function sideOf({ admin }: Visit, sceneId: string, name: string): Promise<Side> {
  const { scenes: t } = texts();
  const [, kind, digits] = /^([dv])(\d{1,15})$/.exec(name) ?? [];
  const number = Number(digits);
  if (kind === 'v') {
    const { job, code } = await admin.scenes.version({ sceneId, version: number });
    if (code === null) throw notFound(t.codeIsForgotten);
    const { params } = await admin.jobs.showDetails({ jobId: job.jobId });
    const { className, quality, aspectRatio, fps } = job;
    return {
      ...{ className, quality, aspectRatio, fps, code },
      params: params === null ? '' : JSON.stringify(params),
      label: t.version(number),
      from: { version: number },
    };
  }
  if (kind === 'd') {
    const draft = await admin.scenes.draft({ sceneId, revision: number });
    const label = t.draftOf(utcText(draft.savedAt));
    return { ...settingsOf(draft), code: draft.code, label, from: { draft: number } };
  }
  if (name !== 'draft') throw notFound(texts().errors.unknownPage);
  const scene = await admin.scenes.show({ sceneId });
  return { ...settingsOf(scene), code: scene.code, label: t.currentDraft };
}

/** What a page offers for a comparison: names of {@link sideOf}, with what they are. */
export async function sidesOf({ admin }: Visit, { sceneId }: SceneDetails): Promise<[string, string][]> {
  const { scenes: t } = texts();
  const { versions } = await admin.scenes.versions({ sceneId, limit: OFFERED });
  const { drafts } = await admin.scenes.drafts({ sceneId });
  return [
    ['draft', t.currentDraft],
    ...versions
      .filter(({ state }) => state !== 'forgotten')
      .map(({ version, job }): [string, string] => [
        `v${version}`,
        t.versionOf(version, utcText(job.createdAt)),
      ]),
    ...drafts
      .slice(1)
      .map(({ revision, savedAt }): [string, string] => [`d${revision}`, t.draftOf(utcText(savedAt))]),
  ];
}
