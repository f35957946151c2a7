import { type Job, type JobRecord, jobOf } from '../model/job.ts';
import { QUALITIES } from '../model/qualities.ts';
import type { DraftRecord, DraftState, SceneSettings, VersionRecord } from '../model/scene.ts';
import type { ListedScene } from '../storage/scene-store.ts';
import { isoTime } from '../time/clock.ts';

/** A named document with the code of a scene, and what was rendered of it. */
export interface Scene {
  /** Sorts by creation time; can't be guessed. */
  sceneId: string;
  /** Whose it is: as the owner of jobs. */
  owner: string;
  /** For people; several scenes may have the same. */
  name: string;
  /** The scene class to render; empty while none is chosen. */
  className: string;
  /** The current draft. */
  code: string;
  /** How it is rendered. */
  settings: SceneSettings;
  /** Of the current draft: the next save names it. */
  revision: number;
  /** The newest version; null before the first. */
  lastVersion: { version: number; jobId: string } | null;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** When it was last saved, renamed or rendered, ISO 8601. */
  changedAt: string;
}

/** A scene of a list, without its draft. */
export type SceneSummary = Omit<Scene, 'className' | 'code' | 'settings'>;

/** What was saved of a scene, without its texts. */
export interface SceneDraft {
  revision: number;
  /** ISO 8601, UTC. */
  savedAt: string;
  /** Bytes. */
  sizeBytes: number;
}

/** An earlier draft, or the current one. */
export interface WholeDraft extends SceneDraft {
  className: string;
  code: string;
  settings: SceneSettings;
}

/**
 * `expired`: its video has been removed, by age; rendering its job again makes another one. `forgotten`: the content of its job
 * was erased.
 */
export type VersionState = 'queued' | 'running' | 'completed' | 'failed' | 'expired' | 'forgotten';

/** A render of a scene. */
export interface SceneVersion {
  sceneId: string;
  /** Counted from 1. */
  version: number;
  /** The draft that was rendered; null: it was rendered with changes. */
  revision: number | null;
  state: VersionState;
  /** With its class name, settings, video and diagnosis. */
  job: Job;
}

/** A version with its code. */
export interface WholeVersion extends SceneVersion {
  /** Null once its job is forgotten. */
  code: string | null;
}

export function summaryOf({ scene, last }: ListedScene): SceneSummary {
  const { sceneId, owner, name, revision, createdAtMs, changedAtMs } = scene;
  return {
    ...{ sceneId, owner, name, revision },
    lastVersion: last ? { version: last.number, jobId: last.jobId } : null,
    createdAt: isoTime(createdAtMs),
    changedAt: isoTime(changedAtMs),
  };
}

/** A scene whose drafts were lost when its storage was damaged has an empty one. */
export function sceneOf(listed: ListedScene, draft: DraftRecord | undefined): Scene {
  const { className = '', code = '', settings = {} } = draft ?? {};
  return { ...summaryOf(listed), className, code, settings };
}

export function draftOf({ revision, savedAtMs, sizeBytes }: DraftState): SceneDraft {
  return { revision, savedAt: isoTime(savedAtMs), sizeBytes };
}

export function wholeDraftOf(draft: DraftRecord): WholeDraft {
  const { className, code, settings } = draft;
  return { ...draftOf(draft), className, code, settings };
}

export function versionOf(
  { sceneId, number, revision }: VersionRecord,
  record: JobRecord,
  { isExpired }: { isExpired: boolean },
): SceneVersion {
  const job = jobOf(record);
  const ended = isExpired && job.status === 'completed' ? 'expired' : job.status;
  const state = record.forgottenAtMs === undefined ? ended : 'forgotten';
  return { sceneId, version: number, revision, state, job };
}

/** The settings with which a job was rendered. `files`: those of the draft, because a job has all files by default. */
export function settingsOfJob(job: JobRecord, { files }: SceneSettings): SceneSettings {
  const { quality, aspectRatio, fps, tags, seed, params, audio, formats, selection } = job;
  return {
    ...{ quality, aspectRatio },
    ...(fps !== QUALITIES[quality].fps && { fps }),
    ...(tags !== null && { tags }),
    ...(seed !== null && { seed }),
    ...(params !== null && { params }),
    ...(audio !== null && { audio }),
    ...(formats !== null && { formats: formats.filter((format) => format !== 'stills') }),
    ...selection,
    ...(files && { files }),
  };
}
