import type { SceneSettings } from '../model/scene.ts';
import type { JobStatus, RenderRequest, ToolJob } from './wire.ts';

/** A scene that the account keeps, without its draft. */
export interface ApiSceneSummary {
  sceneId: string;
  name: string;
  /** Of the current draft: the next save names it. */
  revision: number;
  /** The newest render; null before the first. */
  lastVersion: { version: number; jobId: string } | null;
  /** ISO 8601. */
  createdAt: string;
  /** When it was last saved, renamed or rendered, ISO 8601. */
  changedAt: string;
}

/** The texts of a draft. */
interface DraftTexts {
  /** Empty while none is chosen. */
  className: string;
  code: string;
  settings: SceneSettings;
}

/** A scene with its current draft. */
export type ApiScene = ApiSceneSummary & DraftTexts;

/** A new scene. */
export type NewApiScene = { name: string; jobId?: string } & Partial<DraftTexts>;

/** What to save; `revision`: of the draft that was changed. What is not given stays as it is. */
export type SavedApiScene = { revision: number } & Partial<DraftTexts>;

/** A page of scenes. */
export interface ScenePage {
  scenes: ApiSceneSummary[];
  /** For the next page; null at the end. */
  next: string | null;
  /** Of all scenes of the account. `mostScenes` and `mostBytes`: null: no limit. */
  usage: { scenes: number; bytes: number; mostScenes: number | null; mostBytes: number | null };
}

/** What was saved of a scene. */
export interface ApiDraft {
  revision: number;
  /** ISO 8601. */
  savedAt: string;
  sizeBytes: number;
}

/** A draft with its texts. */
export type WholeApiDraft = ApiDraft & DraftTexts;

/** How a scene is rendered; `revision`: only if this is still the one of the current draft. */
export interface RenderSceneRequest extends Pick<RenderRequest, 'metadata' | 'webhookUrl'> {
  revision?: number;
  /** Settings of this render that differ from those of the draft. */
  changes?: SceneSettings;
}

/** A render of a scene. */
export interface ApiVersion {
  sceneId: string;
  /** Counted from 1. */
  version: number;
  /** The draft that was rendered; null: it was rendered with changes. */
  revision: number | null;
  /** `expired`: its video was removed by age; `forgotten`: the content of its job was erased. */
  state: JobStatus | 'expired' | 'forgotten';
  job: ToolJob;
}

/** A version with its code; null once its job is forgotten. */
export type WholeApiVersion = ApiVersion & { code: string | null };
