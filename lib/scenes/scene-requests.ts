import type { EnqueueRequest } from '../model/requests.ts';
import type { SceneSettings } from '../model/scene.ts';

/** Restricts a call to one owner's scenes; others are reported as `not_found`. */
export interface SceneScope {
  owner?: string;
}

/** A new scene. */
export interface NewScene {
  /** Whose it is: as of {@link EnqueueRequest}. */
  owner: string;
  /** At most 200 characters in one line. */
  name: string;
  /** Default: none chosen. */
  className?: string;
  /** Default: empty. */
  code?: string;
  settings?: SceneSettings;
  /**
   * A job of the owner, which becomes the first version of the scene. What is not given is as in the job.
   */
  jobId?: string;
}

/** What to save. What is not given stays as it is. */
export interface SaveScene extends SceneScope {
  /** Of the draft that was changed: {@link Scene.revision}. */
  revision: number;
  className?: string;
  code?: string;
  /** Replace all settings. */
  settings?: SceneSettings;
  /**
   * Keeps the draft that is replaced, even if it was current for seconds only, such as when a person decides between two.
   * Default false: of drafts that follow each other within seconds, one a minute is kept.
   */
  keepsReplaced?: boolean;
}

/** A name for a scene. */
export interface RenameScene extends SceneScope {
  name: string;
}

/** How a scene is copied. */
export interface DuplicateScene extends SceneScope {
  /** Default: its name, with `(copy)`. */
  name?: string;
}

/** How a scene is removed. */
export interface RemoveScene extends SceneScope {
  /** Whether the jobs of its versions are forgotten, too. Default false: they stay in the list of jobs. */
  forgetJobs?: boolean;
}

/** What becomes the current draft again: an earlier draft, or a version. */
export interface RestoreScene extends SceneScope {
  /** Of the current draft. */
  revision: number;
  /** The revision of an earlier draft. */
  draft?: number;
  /** The number of a version. */
  version?: number;
}

/** How a scene is rendered. */
export interface RenderScene
  extends SceneScope,
    Pick<
      EnqueueRequest,
      'keyId' | 'webhook' | 'webhookUrl' | 'metadata' | 'metadataJson' | 'idempotency' | 'traceContext'
    > {
  /** Renders only if this is still the revision of the current draft. */
  revision?: number;
  /** Settings of this render that differ from those of the draft. */
  changes?: SceneSettings;
  /** Prevents a job that is not yet being stored. */
  signal?: AbortSignal;
}

/** Which scenes to list. */
export interface SceneQuery {
  owner: string;
  /** Only those with words that begin so, in name, class name and code. */
  text?: string;
  /** The `next` of the preceding page. */
  after?: string;
  /** Default 50. */
  limit?: number;
}

/** Which versions to list. */
export interface VersionQuery extends SceneScope {
  /** The number of the last version of the preceding page. */
  before?: number;
  /** Default 50. */
  limit?: number;
}
