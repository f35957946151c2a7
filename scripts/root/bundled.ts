import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BuildError } from './build-error.ts';

/**
 * Libraries bundled in wheels, mostly without licence notices, and for each a Debian package of the same library with
 * its notices.
 */
const NOTICES_OF: Record<string, string> = {
  libasound: 'libasound2t64',
  libavcodec: 'libavcodec61',
  libavdevice: 'libavcodec61',
  libavfilter: 'libavcodec61',
  libavformat: 'libavcodec61',
  libavif: 'libavif16',
  libavutil: 'libavcodec61',
  libbrotlicommon: 'libbrotli1',
  libbrotlidec: 'libbrotli1',
  libdav1d: 'libdav1d7',
  libdrm: 'libdrm2',
  libfreetype: 'libfreetype6',
  libgfortran: 'libgfortran5',
  libgmp: 'libgmp10',
  libgnutls: 'libgnutls30t64',
  libharfbuzz: 'libharfbuzz0b',
  libhogweed: 'libhogweed6t64',
  libjpeg: 'libjpeg62-turbo',
  liblcms2: 'liblcms2-2',
  liblzma: 'liblzma5',
  libmp3lame: 'libmp3lame0',
  libnettle: 'libnettle8t64',
  'libopencore-amrnb': 'libopencore-amrnb0',
  'libopencore-amrwb': 'libopencore-amrwb0',
  libopenjp2: 'libopenjp2-7',
  libopus: 'libopus0',
  libpng16: 'libpng16-16t64',
  libquadmath: 'libquadmath0',
  libscipy_openblas: 'libopenblas0-pthread',
  libscipy_openblas64_: 'libopenblas0-pthread',
  libsharpyuv: 'libwebp7',
  libSvtAv1Enc: 'libsvtav1enc2',
  libswresample: 'libavcodec61',
  libswscale: 'libavcodec61',
  libtiff: 'libtiff6',
  libunistring: 'libunistring5',
  libvpl: 'libvpl2',
  libvpx: 'libvpx9',
  libwebp: 'libwebp7',
  libwebpdemux: 'libwebp7',
  libwebpmux: 'libwebp7',
  libx264: 'libx264-164',
  libx265: 'libx265-215',
  libXau: 'libxau6',
  libxcb: 'libxcb1',
  'libxcb-shape': 'libxcb1',
  'libxcb-shm': 'libxcb1',
  'libxcb-xfixes': 'libxcb1',
  libzstd: 'libzstd1',
};

/** Python packages without licence notices, and the corresponding Debian packages. */
export const PYTHON_NOTICES_OF: Record<string, string> = { pycairo: 'python3-cairo' };

/** Packages that refer to the notices of another package. */
export const NOTICES_ELSEWHERE: Record<string, string> = {
  libgfortran5: 'gcc-14-base',
  libquadmath0: 'gcc-14-base',
};

/** All packages whose notices are used. */
export const NOTICE_PACKAGES: string[] = [
  ...new Set([...Object.values(NOTICES_OF), ...Object.values(PYTHON_NOTICES_OF)]),
];

/** A library in a wheel. */
export interface Bundled {
  /** File name without the suffix of the wheel: `libx264.so.165`. */
  name: string;
  /** Folder name of the wheel: `av`. */
  wheel: string;
  /** Package that contains its notices. */
  noticesOf: string;
}

/** Libraries in wheels, by name. Throws if the source of a library's notices is unknown. */
export function bundledLibraries(pythonPackages: string): Bundled[] {
  return readdirSync(pythonPackages)
    .filter((folder) => folder.endsWith('.libs'))
    .flatMap((folder) => readdirSync(join(pythonPackages, folder)).map((file) => libraryOf(file, folder)))
    .sort((a, b) => (a.name + a.wheel < b.name + b.wheel ? -1 : 1));
}

function libraryOf(file: string, folder: string): Bundled {
  const name = file.replace(/(-[0-9a-f]{8})+(?=\.so)/, '');
  const noticesOf = NOTICES_OF[name.slice(0, name.indexOf('.so'))];
  if (noticesOf === undefined) {
    throw new BuildError(
      `${folder}/${file} is bundled in a wheel, and the source of its notices is unknown: add it to scripts/root/bundled.ts.`,
    );
  }
  return { name, wheel: folder.slice(0, -'.libs'.length), noticesOf };
}
