import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The files from which a virtual machine is started. */
export interface Parts {
  kernel: string;
  /** The folder of the kernel's modules. */
  modules: string;
  /** A shell and its commands in one static program. */
  busybox: string;
  virtiofsd: string;
}

const CACHE = join(import.meta.dirname, '../../build/cache/virtual-machine');
/** Program → its package. */
const PROGRAMS = { 'qemu-system-x86_64': 'qemu-system-x86', cpio: 'cpio' };
const KERNEL = 'linux-image-cloud-amd64';
/** Part of QEMU's packages up to Debian 12, then a package of its own. */
const VIRTIOFSD = ['/usr/lib/qemu/virtiofsd', '/usr/libexec/virtiofsd'];

/** Installs QEMU where it is missing, and unpacks a kernel into `build/`, once. */
export function virtualMachineParts(): Parts {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('This needs Linux on x64.');
  if (process.getuid?.() !== 0) throw new Error('Only root can share its files with a virtual machine.');
  if (!isInstalled('apt-get')) throw new Error('The packages for this are taken from Debian.');
  const missing = Object.entries(PROGRAMS).filter(([program]) => !isInstalled(program));
  install(missing.map(([, name]) => name));
  if (!VIRTIOFSD.some(existsSync)) install(['virtiofsd']);
  const kernel = unpacked(KERNEL, () => dependency(KERNEL));
  const busybox = unpacked('busybox-static');
  const image = readdirSync(join(kernel, 'boot')).find((name) => name.startsWith('vmlinuz'));
  return {
    kernel: join(kernel, 'boot', image ?? ''),
    modules: join(kernel, firstOf(kernel, ['lib/modules', 'usr/lib/modules'])),
    busybox: join(busybox, firstOf(busybox, ['bin/busybox', 'usr/bin/busybox'])),
    virtiofsd: firstOf('/', VIRTIOFSD),
  };
}

function firstOf(folder: string, names: string[]): string {
  const found = names.find((name) => existsSync(join(folder, name)));
  if (!found) throw new Error(`There is none of ${names.join(', ')} in ${folder}.`);
  return found;
}

function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' }).status === 0;
}

function install(packages: string[]): void {
  if (packages.length === 0) return;
  console.log(`Installing ${packages.join(' and ')} …`);
  const settings = ['-qq', '-o', 'DPkg::Lock::Timeout=600', '--yes', '--no-install-recommends'];
  execFileSync('apt-get', ['install', ...settings, ...packages], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}

/** The folder with the files of a package, which isn't installed. */
function unpacked(name: string, realName = () => name): string {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  console.log(`Unpacking ${name} …`);
  const made = `${folder}.part`;
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  const download = ['download', '-qq', '-o', 'APT::Sandbox::User=root', realName()];
  execFileSync('apt-get', download, { cwd: made, stdio: ['ignore', 'ignore', 'inherit'] });
  const deb = readdirSync(made).find((file) => file.endsWith('.deb')) ?? '';
  execFileSync('dpkg', ['-x', deb, '.'], { cwd: made });
  rmSync(join(made, deb));
  renameSync(made, folder);
  return folder;
}

/** The dependency of a metapackage. */
function dependency(name: string): string {
  const text = execFileSync('apt-cache', ['depends', '--important', name], { encoding: 'utf8' });
  const found = /^ +Depends: (\S+)$/m.exec(text)?.[1];
  if (found) return found;
  throw new Error(`apt knows no package ${name}: run apt-get update.`);
}
