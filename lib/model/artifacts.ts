/** What depends on the kind of an artifact. */
export interface ArtifactKind {
  /** Its link in the `result` of a job (contract §2.3), and the option of `scenepress render` that names its file. */
  field: ArtifactField;
  contentType: string;
  /** Whether every completed job has one. */
  isRequired: boolean;
  /** One sentence of the API's description. */
  description: string;
  /** Its largest size; null: the limit is `RenderLimits.outputBytes`. */
  maxBytes: number | null;
  /** Whether `scenepress render` writes it beside the video without being asked. */
  isSavedWithVideo: boolean;
}

const ROWS = {
  'video.mp4': {
    field: 'video',
    contentType: 'video/mp4',
    isRequired: true,
    description: 'MP4 video.',
    maxBytes: null,
    isSavedWithVideo: true,
  },
  'thumbnail.jpg': {
    field: 'thumbnail',
    contentType: 'image/jpeg',
    isRequired: true,
    description: 'JPEG thumbnail.',
    maxBytes: 16_777_216,
    isSavedWithVideo: false,
  },
  'captions.vtt': {
    field: 'captions',
    contentType: 'text/vtt; charset=utf-8',
    isRequired: false,
    description: 'WebVTT captions, when the scene has any.',
    maxBytes: 16_777_216,
    isSavedWithVideo: true,
  },
} as const;

/** The file name of an artifact. */
export type ArtifactName = keyof typeof ROWS;

/** The name of an artifact's link in the `result` of a job. */
export type ArtifactField = (typeof ROWS)[ArtifactName]['field'];

/**
 * The kinds of artifacts, in the order of the contract. The pool of renderers, the HTTP API, the client, the command
 * line and the dashboard read this table.
 */
export const ARTIFACTS: Readonly<Record<ArtifactName, ArtifactKind>> = ROWS;

/** The names of all artifacts. */
export const ARTIFACT_NAMES: readonly ArtifactName[] = Object.keys(ARTIFACTS) as ArtifactName[];

/** The links to artifacts of all completed jobs (`true`), or of some (`false`). */
export type ArtifactFields<IsRequired extends boolean> = {
  [Name in ArtifactName as (typeof ROWS)[Name]['isRequired'] extends IsRequired
    ? (typeof ROWS)[Name]['field']
    : never]: string;
};
