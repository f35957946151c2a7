/** What depends on the kind of an artifact. */
export interface ArtifactKind {
  /** Its link in the `result` of a job (contract §2.3), and the option of `scenepress render` that names its file. */
  field: ArtifactField;
  contentType: string;
  /** The format with which a request asks for it; null: jobs have it without being asked (contract §2.3). */
  format: ArtifactFormat | null;
  /** Whether every completed job has one, or every one that asked for it. */
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
    format: null,
    isRequired: true,
    description: 'MP4 video.',
    maxBytes: null,
    isSavedWithVideo: true,
  },
  'thumbnail.jpg': {
    field: 'thumbnail',
    contentType: 'image/jpeg',
    format: null,
    isRequired: true,
    description: 'JPEG thumbnail.',
    maxBytes: 16_777_216,
    isSavedWithVideo: false,
  },
  'captions.vtt': {
    field: 'captions',
    contentType: 'text/vtt; charset=utf-8',
    format: null,
    isRequired: false,
    description: 'WebVTT captions, when the scene has any.',
    maxBytes: 16_777_216,
    isSavedWithVideo: true,
  },
  'captions.srt': {
    field: 'srt',
    contentType: 'application/x-subrip; charset=utf-8',
    format: 'srt',
    isRequired: false,
    description: 'SubRip captions, when the scene has any.',
    maxBytes: 16_777_216,
    isSavedWithVideo: false,
  },
  'video.gif': {
    field: 'gif',
    contentType: 'image/gif',
    format: 'gif',
    isRequired: true,
    description: 'Animated GIF, at most 640 pixels wide or high and 25 frames per second.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'video.webp': {
    field: 'webp',
    contentType: 'image/webp',
    format: 'webp',
    isRequired: true,
    description: 'Animated WebP, of the size and rate of the GIF.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'video.apng': {
    field: 'apng',
    contentType: 'image/apng',
    format: 'apng',
    isRequired: true,
    description: 'Animated PNG with exact colours, of the size and rate of the GIF.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'video.webm': {
    field: 'webm',
    contentType: 'video/webm',
    format: 'webm',
    isRequired: true,
    description: 'WebM video: VP9 and Opus.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'av1.mp4': {
    field: 'av1',
    contentType: 'video/mp4',
    format: 'av1',
    isRequired: true,
    description: 'MP4 video: AV1 and AAC.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'hevc.mp4': {
    field: 'hevc',
    contentType: 'video/mp4',
    format: 'hevc',
    isRequired: true,
    description: 'MP4 video: HEVC (hvc1) and AAC.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'sound.m4a': {
    field: 'sound',
    contentType: 'audio/mp4',
    format: 'm4a',
    isRequired: false,
    description: 'The sound as AAC, when the scene has any.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'sprites.jpg': {
    field: 'sprites',
    contentType: 'image/jpeg',
    format: 'sprites',
    isRequired: true,
    description: 'Small pictures for players to show while seeking, as one JPEG.',
    maxBytes: 16_777_216,
    isSavedWithVideo: false,
  },
  'sprites.vtt': {
    field: 'spritesVtt',
    contentType: 'text/vtt; charset=utf-8',
    format: 'sprites',
    isRequired: true,
    description: 'WebVTT with the place of each small picture in the JPEG.',
    maxBytes: 16_777_216,
    isSavedWithVideo: false,
  },
  'last-frame.png': {
    field: 'lastFrame',
    contentType: 'image/png',
    format: 'last-frame',
    isRequired: true,
    description: 'The last frame as PNG.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'frames.zip': {
    field: 'frames',
    contentType: 'application/zip',
    format: 'png',
    isRequired: true,
    description: 'A PNG of each frame, in a ZIP.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'sections.zip': {
    field: 'sections',
    contentType: 'application/zip',
    format: 'sections',
    isRequired: true,
    description: 'An MP4 of each section without sound, and a JSON index, in a ZIP.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'still-1.png': {
    field: 'still1',
    contentType: 'image/png',
    format: 'stills',
    isRequired: false,
    description: 'The first of the stills as PNG.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'still-2.png': {
    field: 'still2',
    contentType: 'image/png',
    format: 'stills',
    isRequired: false,
    description: 'The second of the stills as PNG.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'still-3.png': {
    field: 'still3',
    contentType: 'image/png',
    format: 'stills',
    isRequired: false,
    description: 'The third of the stills as PNG.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'still-4.png': {
    field: 'still4',
    contentType: 'image/png',
    format: 'stills',
    isRequired: false,
    description: 'The fourth of the stills as PNG.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'still-5.png': {
    field: 'still5',
    contentType: 'image/png',
    format: 'stills',
    isRequired: false,
    description: 'The fifth of the stills as PNG.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'still-6.png': {
    field: 'still6',
    contentType: 'image/png',
    format: 'stills',
    isRequired: false,
    description: 'The sixth of the stills as PNG.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'still-7.png': {
    field: 'still7',
    contentType: 'image/png',
    format: 'stills',
    isRequired: false,
    description: 'The seventh of the stills as PNG.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'still-8.png': {
    field: 'still8',
    contentType: 'image/png',
    format: 'stills',
    isRequired: false,
    description: 'The eighth of the stills as PNG.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'slides.html': {
    field: 'slides',
    contentType: 'text/html; charset=utf-8',
    format: 'slides',
    isRequired: true,
    description: 'A presentation of the steps of the scene: one HTML file with the video.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'slides.pdf': {
    field: 'pdf',
    contentType: 'application/pdf',
    format: 'pdf',
    isRequired: true,
    description: 'A PDF with the last picture of each step.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'video-chapters.mp4': {
    field: 'chapters',
    contentType: 'video/mp4',
    format: 'mp4-chapters',
    isRequired: true,
    description: 'The MP4 video with the sections of the scene as chapters.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'transparent.webm': {
    field: 'transparentWebm',
    contentType: 'video/webm',
    format: 'transparent-webm',
    isRequired: true,
    description: 'WebM video without a background: VP9 with alpha, and Opus.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'transparent.mov': {
    field: 'transparentMov',
    contentType: 'video/quicktime',
    format: 'mov',
    isRequired: true,
    description: 'QuickTime video without a background: ProRes 4444 with alpha, and PCM.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
  'transparent-frames.zip': {
    field: 'transparentFrames',
    contentType: 'application/zip',
    format: 'transparent-png',
    isRequired: true,
    description: 'A PNG of each frame without a background, in a ZIP.',
    maxBytes: null,
    isSavedWithVideo: false,
  },
} as const;

/** The file name of an artifact. */
export type ArtifactName = keyof typeof ROWS;

/** The name of an artifact's link in the `result` of a job. */
export type ArtifactField = (typeof ROWS)[ArtifactName]['field'];

/** What a request may ask for besides MP4. */
export type ArtifactFormat = Exclude<(typeof ROWS)[ArtifactName]['format'], null>;

/**
 * The kinds of artifacts, in the order of the contract. The pool of renderers, the HTTP API, the client, the command
 * line and the dashboard read this table.
 */
export const ARTIFACTS: Readonly<Record<ArtifactName, ArtifactKind>> = ROWS;

/** The names of all artifacts. */
export const ARTIFACT_NAMES: readonly ArtifactName[] = Object.keys(ARTIFACTS) as ArtifactName[];

/** The names of the artifacts that a job with these formats may have. */
export function artifactNamesOf(formats: readonly ArtifactFormat[]): ArtifactName[] {
  return ARTIFACT_NAMES.filter((name) => {
    const { format } = ARTIFACTS[name];
    return format === null || formats.includes(format);
  });
}

/** The names of the artifacts of the contract (§2.3). */
export const CONTRACT_ARTIFACTS: readonly ArtifactName[] = artifactNamesOf([]);

/** The links of the contract to artifacts of all completed jobs (`true`), or of some (`false`). */
export type ArtifactFields<IsRequired extends boolean> = {
  [Name in ArtifactName as (typeof ROWS)[Name] extends { format: null; isRequired: IsRequired }
    ? (typeof ROWS)[Name]['field']
    : never]: string;
};

/** The links to artifacts that a request has asked for. */
export type FormatFields = {
  [Name in ArtifactName as (typeof ROWS)[Name]['format'] extends null
    ? never
    : (typeof ROWS)[Name]['field']]?: string;
};
