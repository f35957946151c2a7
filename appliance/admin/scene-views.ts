import type { Scene, SceneDraft, SceneVersion } from '../../lib/internal.ts';
import type { JobInfo } from './administration-views.ts';

/** A version of a scene as administration shows it: a render. */
export interface VersionInfo extends Omit<SceneVersion, 'job'> {
  job: JobInfo;
}

/** A version with the code that was rendered; null once its job is forgotten. */
export interface VersionDetails extends VersionInfo {
  code: string | null;
}

/** A page of a list of versions. */
export interface VersionPage {
  versions: VersionInfo[];
  /** Continues as `before` of the next page; null at the end. */
  next: number | null;
}

/** A scene as administration shows it, with its current draft. */
export interface SceneDetails extends Omit<Scene, 'owner'> {
  /** The e-mail address of its account. */
  account: string;
}

/** A scene of a list. */
export interface SceneInfo extends Omit<SceneDetails, 'className' | 'code' | 'settings' | 'lastVersion'> {
  /** The newest version; null before the first. */
  last: VersionInfo | null;
}

/** A page of a list of scenes. */
export interface ScenePage {
  scenes: SceneInfo[];
  /** Continues as `after` of the next page; null at the end. */
  next: string | null;
}

/** What the scenes of an account take, and may take; null: no limit. */
export interface SceneUse {
  scenes: number;
  /** Of all drafts. */
  bytes: number;
  mostScenes: number | null;
  mostBytes: number | null;
}

/** The scene that a job is a version of. */
export interface SceneOfJob {
  sceneId: string;
  name: string;
  version: number;
}

/** The drafts of a scene, the newest, which is the current one, first. */
export interface DraftList {
  drafts: SceneDraft[];
}
