/** What a file is to scenes; `drawing`: SVG. */
export type FileKind = 'picture' | 'drawing' | 'sound' | 'font' | 'data' | 'tex' | 'module';

/** How the names of files of a kind end. */
interface KindOfFile {
  /** The ends of names, in lower case, with the media type. */
  extensions: Readonly<Record<string, string>>;
  /** Whether the content is text in UTF-8. */
  isText: boolean;
}

/** What scenes can use. Checks, pages and manuals read this table. */
export const FILE_KINDS: Readonly<Record<FileKind, KindOfFile>> = {
  picture: {
    extensions: {
      png: 'image/png',
      jpg: 'image/jpeg',
      jpeg: 'image/jpeg',
      gif: 'image/gif',
      webp: 'image/webp',
      bmp: 'image/bmp',
    },
    isText: false,
  },
  drawing: { extensions: { svg: 'image/svg+xml' }, isText: true },
  sound: {
    extensions: {
      mp3: 'audio/mpeg',
      wav: 'audio/wav',
      ogg: 'audio/ogg',
      flac: 'audio/flac',
      m4a: 'audio/mp4',
    },
    isText: false,
  },
  font: { extensions: { ttf: 'font/ttf', otf: 'font/otf', ttc: 'font/collection' }, isText: false },
  data: {
    extensions: {
      csv: 'text/csv',
      tsv: 'text/tab-separated-values',
      json: 'application/json',
      txt: 'text/plain',
      md: 'text/markdown',
    },
    isText: true,
  },
  tex: { extensions: { sty: 'text/x-tex', cls: 'text/x-tex', tex: 'text/x-tex' }, isText: true },
  module: { extensions: { py: 'text/x-python' }, isText: true },
};

const KINDS = Object.entries(FILE_KINDS).flatMap(([kind, { extensions, isText }]) =>
  Object.entries(extensions).map(([extension, mediaType]) => ({
    kind: kind as FileKind,
    extension,
    mediaType,
    isText,
  })),
);

/** All ends of names, such as `png`. */
export const FILE_EXTENSIONS: readonly string[] = KINDS.map(({ extension }) => extension);

/** What a name says about its file; undefined if no kind has names that end so. */
export function kindOfName(
  name: string,
): { kind: FileKind; extension: string; mediaType: string; isText: boolean } | undefined {
  const extension = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase();
  return KINDS.find((kind) => kind.extension === extension);
}

/** The first bytes of each format that is not text, in hexadecimal: `..` stands for any. */
const BEGINNINGS: Readonly<Record<string, readonly string[]>> = {
  png: ['89504e470d0a1a0a'],
  jpg: ['ffd8ff'],
  jpeg: ['ffd8ff'],
  gif: ['474946383761', '474946383961'],
  webp: ['52494646........57454250'],
  bmp: ['424d'],
  // A tag, or frames of layer III.
  mp3: ['494433', 'fffb', 'fffa', 'fff3', 'fff2', 'ffe3', 'ffe2'],
  wav: ['52494646........57415645'],
  ogg: ['4f676753'],
  flac: ['664c6143'],
  m4a: ['........66747970'],
  ttf: ['00010000', '74727565'],
  otf: ['4f54544f', '00010000'],
  ttc: ['74746366'],
};
/** So many bytes tell the format. */
export const BEGINNING_BYTES = 16;

/** Whether the first bytes of a file are those of its format. */
export function hasBeginning(extension: string, bytes: Uint8Array): boolean {
  const hex = Buffer.from(bytes.subarray(0, BEGINNING_BYTES)).toString('hex');
  return BEGINNINGS[extension]?.some((beginning) => new RegExp(`^${beginning}`).test(hex)) ?? true;
}
