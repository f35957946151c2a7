import type { EnqueueRequest } from './requests.ts';
import type { FrameSelection } from './selection.ts';

/** How a scene is rendered: what a render request has besides its code. Absent: the default of a request. */
export interface SceneSettings
  extends Pick<
      EnqueueRequest,
      'quality' | 'aspectRatio' | 'fps' | 'tags' | 'seed' | 'params' | 'audio' | 'formats'
    >,
    FrameSelection {
  /** Ids of files of the owner, by the names under which the scene finds them. Default: all files of the owner. */
  files?: Readonly<Record<string, string>>;
}

/** A stored scene. Its current draft is the one of its revision. Times are epoch milliseconds. */
export interface SceneRecord {
  sceneId: string;
  owner: string;
  name: string;
  /** Of the current draft; grows with each save. */
  revision: number;
  /** Bytes of all its drafts. */
  draftBytes: number;
  createdAtMs: number;
  /** When it was last saved, renamed or rendered. */
  changedAtMs: number;
}

/** The code of a scene as it was saved. */
export interface DraftRecord {
  sceneId: string;
  revision: number;
  savedAtMs: number;
  /** Of its texts. */
  sizeBytes: number;
  /** Empty: not chosen yet. */
  className: string;
  code: string;
  settings: SceneSettings;
}

/** What is known of a draft without its texts. */
export type DraftState = Omit<DraftRecord, 'className' | 'code' | 'settings'>;

/** A render of a scene. Code and settings are those of its job. */
export interface VersionRecord {
  jobId: string;
  sceneId: string;
  /** Counted from 1. */
  number: number;
  /** The draft that was rendered; null: it was rendered with changes. */
  revision: number | null;
}

/** What scenes of an owner take. */
export interface SceneUsage {
  scenes: number;
  /** Of all drafts. */
  bytes: number;
}
