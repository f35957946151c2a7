import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Debian's short names of licences → SPDX's; versions and "or later" are translated by rule. */
const SPDX: Record<string, string> = {
  expat: 'MIT',
  mit: 'MIT',
  'mit/x11': 'MIT',
  x11: 'X11',
  isc: 'ISC',
  zlib: 'Zlib',
  'bsd-2-clause': 'BSD-2-Clause',
  'bsd-3-clause': 'BSD-3-Clause',
  'bsd-4-clause': 'BSD-4-Clause',
  'bsd-4-clause-uc': 'BSD-4-Clause-UC',
  'apache-2.0': 'Apache-2.0',
  artistic: 'Artistic-1.0-Perl',
  'artistic-2.0': 'Artistic-2.0',
  'boost-1.0': 'BSL-1.0',
  'bsl-1.0': 'BSL-1.0',
  'cc0-1.0': 'CC0-1.0',
  cc0: 'CC0-1.0',
  'ofl-1.1': 'OFL-1.1',
  'sil-1.1': 'OFL-1.1',
  ofl: 'OFL-1.1',
  'mpl-1.1': 'MPL-1.1',
  'mpl-2.0': 'MPL-2.0',
  'psf-2': 'PSF-2.0',
  'psf-2.0': 'PSF-2.0',
  'lppl-1.3c': 'LPPL-1.3c',
  'unicode-dfs-2016': 'Unicode-DFS-2016',
  curl: 'curl',
  libpng: 'libpng-2.0',
  ftl: 'FTL',
  openssl: 'OpenSSL',
  '0bsd': '0BSD',
  'apache-2': 'Apache-2.0',
  'artistic-2': 'Artistic-2.0',
  beerware: 'Beerware',
  'bsd-2': 'BSD-2-Clause',
  'bsd-3': 'BSD-3-Clause',
  bzip: 'bzip2-1.0.6',
  fsfap: 'FSFAP',
  fsful: 'FSFUL',
  fsfullr: 'FSFULLR',
  'gfdl-niv-1.3': 'GFDL-1.3-no-invariants-only',
  'gfdl-niv-1.3+': 'GFDL-1.3-no-invariants-or-later',
  'gpl-1+': 'GPL-1.0-or-later',
  icu: 'ICU',
  libtiff: 'libtiff',
  ntp: 'NTP',
  pd: 'LicenseRef-public-domain',
  sunpro: 'SunPro',
  tcl: 'TCL',
  hpnd: 'HPND',
  'hpnd-sell-variant': 'HPND-sell-variant',
  'bitstream-vera': 'Bitstream-Vera',
};

const X_LIBRARIES = /^(libx|libsm6|libice6|libfontenc1|libpixman|x11-|xfonts)/;
const GCC_LIBRARIES = /^(gcc-14-base|libatomic1|libgcc-s1|libgfortran5|libstdc\+\+6)/;

/** Licences of packages whose `copyright` file isn't machine-readable. */
function licenceInProse(name: string): string | undefined {
  if (name === 'python3-cairo') return 'LGPL-2.1-only OR MPL-1.1';
  if (/^(lib)?python3/.test(name)) return 'PSF-2.0';
  if (/^texlive-/.test(name)) return 'LPPL-1.3c AND LicenseRef-TeX-Live';
  if (GCC_LIBRARIES.test(name)) return 'GPL-3.0-or-later WITH GCC-exception-3.1';
  if (X_LIBRARIES.test(name)) return 'MIT';
  if (/^(fontconfig|libfontconfig1)/.test(name)) return 'HPND-sell-variant AND MIT';
  if (/^lib(gssapi-)?k(rb)?5|^libk5crypto/.test(name)) return 'MIT';
  return {
    libcairo2: 'LGPL-2.1-only OR MPL-1.1',
    libgnutls30t64: 'LGPL-2.1-or-later',
    'libtasn1-6': 'LGPL-2.1-or-later',
    libmpfr6: 'LGPL-3.0-or-later',
    libcrypt1: 'LGPL-2.1-or-later',
    libncursesw6: 'X11-distribute-modifications-variant',
    'libavahi-client3': 'LGPL-2.1-or-later',
    'libavahi-common3': 'LGPL-2.1-or-later',
    'libavahi-common-data': 'LGPL-2.1-or-later',
    libdrm2: 'MIT',
    'libopencore-amrnb0': 'Apache-2.0',
    'libopencore-amrwb0': 'Apache-2.0',
    libquadmath0: 'LGPL-2.1-or-later',
    'fonts-lmodern': 'LicenseRef-GUST-Font-License',
    'fonts-wqy-zenhei': 'GPL-2.0-only WITH Font-exception-2.0',
  }[name];
}

/** The SPDX expression of a Debian package, from its machine-readable `copyright` file. */
export function licenceOfDeb(name: string, deb: string, work: string): string {
  const text = copyrightOf(deb, work);
  if (text === undefined || !/^Format:\s*https?:/m.test(text)) return licenceInProse(name) ?? 'NOASSERTION';
  const names = [...text.matchAll(/^License:[ \t]*(\S.*)$/gm)].map(([, name]) => name as string);
  return expressionOf(names);
}

/** Combines the licences of all parts of a package with AND. */
export function expressionOf(names: string[]): string {
  const known = new Set<string>();
  for (const name of names.flatMap((text) => text.split(/,?\s+and\s+/i))) {
    const alternatives = name.split(/,?\s+or\s+/i).map(spdxOf);
    known.add(alternatives.length > 1 ? `(${alternatives.join(' OR ')})` : (alternatives[0] as string));
  }
  return [...known].sort().join(' AND ') || 'NOASSERTION';
}

/** A name unknown to SPDX is kept as a reference to the package's own licence. */
function spdxOf(name: string): string {
  const plain = name
    .trim()
    .toLowerCase()
    .replace(/ licen[cs]e$/, '')
    .replaceAll(' ', '-');
  const gnu = /^(a?gpl|l?gpl|gfdl)-?v?(\d(?:\.\d)?)(\+)?(?:-with-.*|-exception.*)?$/.exec(plain);
  if (gnu) {
    const [, family = '', version = '', later] = gnu;
    const number = version.includes('.') ? version : `${version}.0`;
    return `${family.toUpperCase()}-${number}-${later ? 'or-later' : 'only'}`;
  }
  if (/^public[- ]domain$/.test(plain)) return 'LicenseRef-public-domain';
  if (/^bsd-[23]-clause/.test(plain)) return `BSD-${plain[4]}-Clause`;
  return SPDX[plain] ?? `LicenseRef-${name.trim().replaceAll(/[^\w.]+/g, '-')}`;
}

/** The `copyright` file of a package; undefined without one. `work`: a temporary folder. */
export function copyrightOf(deb: string, work: string): string | undefined {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const data = execFileSync('dpkg-deb', ['--fsys-tarfile', deb], { maxBuffer: 4 * 1024 ** 3 });
  const filter = ['-x', '-C', work, '--wildcards', './usr/share/doc/*/copyright'];
  spawnSync('tar', filter, { input: data, stdio: ['pipe', 'ignore', 'ignore'] });
  const found = spawnSync('find', [work, '-name', 'copyright', '-type', 'f'], { encoding: 'utf8' });
  const path = found.stdout.split('\n')[0];
  return path ? readFileSync(join(path), 'utf8') : undefined;
}
