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
  hpnd: 'HPND',
  'hpnd-sell-variant': 'HPND-sell-variant',
  'bitstream-vera': 'Bitstream-Vera',
};

/** The SPDX expression of a Debian package, of what its `copyright` file says in its machine-readable form. */
export function licenceOfDeb(deb: string, work: string): string {
  const text = copyrightOf(deb, work);
  if (text === undefined || !/^Format:\s*https?:/m.test(text)) return 'NOASSERTION';
  const names = [...text.matchAll(/^License:[ \t]*(\S.*)$/gm)].map(([, name]) => name as string);
  return expressionOf(names);
}

/** All of them together: a package is only as free as each of its parts. */
export function expressionOf(names: string[]): string {
  const known = new Set<string>();
  for (const name of names.flatMap((text) => text.split(/,?\s+and\s+/i))) {
    const alternatives = name.split(/,?\s+or\s+/i).map(spdxOf);
    if (alternatives.includes(undefined)) known.add('NOASSERTION');
    else known.add(alternatives.length > 1 ? `(${alternatives.join(' OR ')})` : (alternatives[0] as string));
  }
  return [...known].sort().join(' AND ') || 'NOASSERTION';
}

function spdxOf(name: string): string | undefined {
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
  return SPDX[plain];
}

function copyrightOf(deb: string, work: string): string | undefined {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const data = execFileSync('dpkg-deb', ['--fsys-tarfile', deb], { maxBuffer: 4 * 1024 ** 3 });
  const filter = ['-x', '-C', work, '--wildcards', './usr/share/doc/*/copyright'];
  spawnSync('tar', filter, { input: data, stdio: ['pipe', 'ignore', 'ignore'] });
  const found = spawnSync('find', [work, '-name', 'copyright', '-type', 'f'], { encoding: 'utf8' });
  const path = found.stdout.split('\n')[0];
  return path ? readFileSync(join(path), 'utf8') : undefined;
}
