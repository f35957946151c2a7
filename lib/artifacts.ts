/** The file name of an artifact. */
export type ArtifactName = 'video.mp4' | 'thumbnail.jpg' | 'captions.vtt';

interface ArtifactKind {
  /** Its link in the `result` of a job (contract §2.3). */
  field: string;
  contentType: string;
  /** Whether every completed job has one. */
  isRequired: boolean;
}

/** The kinds of artifacts, in the order of the contract. */
export const ARTIFACTS: Readonly<Record<ArtifactName, ArtifactKind>> = {
  'video.mp4': { field: 'video', contentType: 'video/mp4', isRequired: true },
  'thumbnail.jpg': { field: 'thumbnail', contentType: 'image/jpeg', isRequired: true },
  'captions.vtt': { field: 'captions', contentType: 'text/vtt; charset=utf-8', isRequired: false },
};
/** The names of all artifacts. */
export const ARTIFACT_NAMES: readonly ArtifactName[] = Object.keys(ARTIFACTS) as ArtifactName[];
