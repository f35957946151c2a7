import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';

interface NpmPackage {
  name: string;
  version: string;
  /** Path in the package → text; all are executable. */
  files: Record<string, string>;
}

/** An npm registry with a few small packages. */
export interface Registry {
  url: string;
  integrity: (name: string) => string;
  /** Lets requests for packages wait from now on; resolves when one does. */
  hold: () => Promise<void>;
  /** Answers all waiting requests, and later ones at once. */
  release: () => void;
}

export async function npmRegistry(t: Test, folder: string, packages: NpmPackage[]): Promise<Registry> {
  const tarballs = new Map(packages.map((entry) => [entry.name, tarballOf(entry, join(folder, entry.name))]));
  const integrity = (name: string) =>
    `sha512-${createHash('sha512')
      .update(tarballs.get(name) ?? '')
      .digest('base64')}`;
  let held: { promise: Promise<void>; resolve: () => void } | undefined;
  const server = createServer(async (request, response) => {
    const name = request.url?.slice(1).replace(/\.tgz$/, '') ?? '';
    const found = packages.find((entry) => entry.name === name);
    if (!found) return response.writeHead(404).end('{}');
    if (request.url?.endsWith('.tgz')) {
      server.emit('asked');
      await held?.promise;
      return response.end(tarballs.get(name));
    }
    const dist = { tarball: `${url}/${name}.tgz`, integrity: integrity(name) };
    const version = { name, version: found.version, dist };
    const document = { name, 'dist-tags': { latest: found.version }, versions: { [found.version]: version } };
    return response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const release = () => {
    held?.resolve();
    held = undefined;
  };
  t.teardown(() => {
    release();
    server.closeAllConnections();
    server.close();
  });
  const hold = async () => {
    held = Promise.withResolvers<void>();
    await once(server, 'asked');
  };
  return { url, integrity, hold, release };
}

function tarballOf({ name, version, files }: NpmPackage, folder: string): Buffer {
  const place = join(folder, 'package');
  const all = { ...files, 'package.json': JSON.stringify({ name, version }) };
  for (const [path, text] of Object.entries(all)) {
    const file = join(place, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, 0o755);
  }
  return execFileSync('tar', ['--create', '--gzip', '--directory', folder, 'package']);
}

const WHEEL = `
import sys, zipfile
folder, name, script = sys.argv[1:]
files = {
    f'{name}.py': f"def main():\\n    print('{name} runs')\\n",
    f'{name}-1.0.dist-info/METADATA': f'Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n',
    f'{name}-1.0.dist-info/WHEEL': 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
    f'{name}-1.0.dist-info/entry_points.txt': f'[console_scripts]\\n{name} = {name}:main\\n',
}
if script:
    del files[f'{name}-1.0.dist-info/entry_points.txt']
    files[f'{name}-1.0.data/scripts/{name}'] = script
files[f'{name}-1.0.dist-info/RECORD'] = ''.join(f'{path},,\\n' for path in [*files, f'{name}-1.0.dist-info/RECORD'])
with zipfile.ZipFile(f'{folder}/{name}-1.0-py3-none-any.whl', 'w') as wheel:
    for path, text in files.items():
        info = zipfile.ZipInfo(path)
        info.external_attr = 0o100755 << 16
        wheel.writestr(info, text)
`;

/**
 * Makes a Python package with a program of its name, which says so or is this script. Returns its line in a lock.
 */
export function pythonWheel(folder: string, name: string, script = ''): string {
  mkdirSync(folder, { recursive: true });
  execFileSync('python3', ['-c', WHEEL, folder, name, script]);
  const wheel = readFileSync(join(folder, `${name}-1.0-py3-none-any.whl`));
  return `${name}==1.0 --hash=sha256:${createHash('sha256').update(wheel).digest('hex')}\n`;
}
