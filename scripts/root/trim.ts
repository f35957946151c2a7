import { globSync, readdirSync, rmSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { KEPT } from './normalise.ts';
import { sizeOf } from './size.ts';
import { UNUSED_FONT_FAMILIES } from './tex-fonts.ts';

/** Programs kept in /usr/bin: those that Python, TeX and dvisvgm call, and common tools for scripts. */
const PROGRAMS = [
  ...['python3*', 'bwrap', 'fc-cache', 'fc-list', 'fc-match', 'ld.so', 'zdump'],
  ...[
    'latex',
    'pdflatex',
    'lualatex',
    'dvilualatex',
    'tex',
    'etex',
    'pdftex',
    'pdfetex',
    'luatex',
    'luahbtex',
    'xelatex',
    'xetex',
  ],
  ...[
    'dvisvgm',
    'dvips',
    'dvipdfm*',
    'xdvipdfmx',
    'extractbb',
    'kpse*',
    'mktex*',
    'mf',
    'mf-nowin',
    'gftopk',
  ],
  ...[
    'sh',
    'bash',
    'dash',
    'env',
    '\\[',
    'awk',
    'mawk',
    'sed',
    'grep',
    'egrep',
    'fgrep',
    'find',
    'xargs',
    'tar',
  ],
  ...[
    'basename',
    'cat',
    'chmod',
    'cmp',
    'cp',
    'cut',
    'date',
    'dd',
    'df',
    'diff',
    'dirname',
    'du',
    'echo',
    'expr',
  ],
  ...['false', 'gunzip', 'gzip', 'head', 'id', 'ln', 'ls', 'mkdir', 'mktemp', 'mv', 'nproc', 'printf', 'pwd'],
  ...[
    'readlink',
    'realpath',
    'rm',
    'rmdir',
    'seq',
    'sleep',
    'sort',
    'stat',
    'sync',
    'tail',
    'tee',
    'test',
    'timeout',
  ],
  ...['touch', 'tr', 'true', 'uname', 'uniq', 'wc', 'which'],
];

const OTHER_PROGRAMS = 'programs that neither Python nor LaTeX calls';

/** Files that renders don't need: description and paths. */
const CUTS: Record<string, string[]> = {
  'documentation, manuals and translations': [
    'usr/share/{doc,doc-base,man,info,locale,lintian,bug,gtk-doc,help,i18n,groff,menu,calendar}',
    'usr/share/{applications,icons,pixmaps,bash-completion,zsh,fish,metainfo,mime,thumbnailers,common-licenses}',
    'usr/share/texlive/texmf-dist/doc',
    'usr/share/texmf/doc',
    'usr/share/doc-base',
  ],
  'package management and system services': [
    'usr/lib/{apt,dpkg,systemd,udev,init,pam.d,tmpfiles.d,sysusers.d,sysctl.d,mime,ucf}',
    'usr/lib/x86_64-linux-gnu/{libapt*,security,libsystemd-shared*}',
    'usr/share/{apt,dpkg,debconf,debianutils,keyrings,pam,pam-configs,base-files,base-passwd,perl*,ucf,adduser,polkit-1,sysv-rc,dh-python,python3/dist,python3/debpython}',
    'usr/libexec/dpkg',
    'var/{backups,local,mail,opt,spool,log}',
    'var/cache/{apt,debconf,ldconfig,man}',
    'var/lib/{apt,dpkg,ucf,pam,systemd,misc,vim,doc-base}',
    'etc/{apt,dpkg,cron*,init.d,rc*.d,systemd,pam*,security,logrotate.d,default,skel,kernel,logcheck,opt,selinux,update-motd.d,ucf.conf,debconf.conf,deluser.conf,adduser.conf,perl,profile*,bash*,.pwd.lock,shadow*,gshadow*,subuid*,subgid*,passwd-,group-,motd,issue*}',
    'boot',
    'home',
    'media',
    'mnt',
    'opt',
    'root/.*',
    'srv',
  ],
  Perl: ['usr/lib/x86_64-linux-gnu/{perl*,libperl*}', 'usr/share/perl*'],
  Java: ['usr/share/{java,maven-repo}', 'usr/lib/jvm'],
  'TeX documentation sources, font metrics for other programs, other formats': [
    'usr/share/texlive/texmf-dist/source',
    'usr/share/texlive/texmf-dist/fonts/afm',
    'usr/share/texlive/texmf-dist/{scripts/!(texlive),context,tex/context,bibtex,makeindex,asymptote,metapost}',
    'usr/share/texlive/{tlpkg,texmf-dist/texdoc*,texmf-dist/tex/latex-dev,texmf-dist/tex/plain/*demo*}',
    'usr/share/texmf/{fonts/afm,source,scripts}',
    'var/lib/texmf/web2c/{metapost,*/*-dev.fmt,euptex,eptex,aleph}',
    'usr/share/poppler',
  ],
  'TeX fonts of families that few documents use': [
    `usr/share/texlive/texmf-dist/fonts/*/{,*/}{${UNUSED_FONT_FAMILIES.join(',')}}`,
    'usr/share/texlive/texmf-dist/tex/latex/{worldflags,utfsym,twemojis,hwemoji}',
  ],
  'Chinese fonts in other formats': [
    'usr/share/fonts/truetype/arphic-*',
    'usr/share/texlive/texmf-dist/fonts/misc/cns',
  ],
  'Greek text fonts of TeX (cbfonts)': [
    'usr/share/texlive/texmf-dist/fonts/{type1,tfm,enc,map}/public/cbfonts*',
  ],
  [OTHER_PROGRAMS]: ['usr/sbin/*', 'usr/games'],
  'libraries of those programs': [
    'usr/lib/x86_64-linux-gnu/{libperl*,libapt*,libdb-5*,libmpfr*,libproc2*,libncurses*,libmenu*}',
    'usr/lib/x86_64-linux-gnu/{libpanel*,libform*,libsmartcols*,libfdisk*,libptexenc*,libXaw*,libXpm*}',
    'usr/lib/{git-core,ssl,file,man-db}',
  ],
  'tests, headers and types of Python packages': [
    'usr/local/lib/python3.13/dist-packages/**/{tests,test}',
    'usr/local/lib/python3.13/dist-packages/**/*.{pyi,pxd,pyx,h,hpp,c,cpp,f,f90}',
    'usr/local/lib/python3.13/dist-packages/numpy/_core/{include,lib}',
  ],
  'parts of Python for development and windows': [
    'usr/lib/python3.13/{idlelib,tkinter,turtledemo,ensurepip,lib2to3,pydoc_data,test,config-*}',
    'usr/lib/python3/dist-packages',
  ],
  'static libraries': ['usr/lib/**/*.a', 'usr/include'],
  'character sets and languages of the C library': [
    'usr/lib/locale/!(C.utf8)',
    'usr/lib/x86_64-linux-gnu/gconv/!(UTF*|ISO8859-1.so|gconv-modules*)',
    'usr/share/zoneinfo/right',
  ],
};

/** Removes these files. Returns their sizes. */
export function trim(tree: string): { what: string; megabytes: number }[] {
  const kept = KEPT.map((folder) => join(tree, folder));
  let before = sizeOf(kept, 1);
  return Object.entries(CUTS).map(([what, patterns]) => {
    const paths = patterns.flatMap((pattern) => globSync(pattern, { cwd: tree }));
    if (what === OTHER_PROGRAMS) paths.push(...otherPrograms(tree));
    for (const path of paths) {
      rmSync(join(tree, path), { recursive: true, force: true });
    }
    const after = sizeOf(kept, 1);
    const megabytes = Math.round((before - after) / 1e5) / 10;
    before = after;
    return { what, megabytes };
  });
}

function otherPrograms(tree: string): string[] {
  return readdirSync(join(tree, 'usr/bin'))
    .filter((name) => !PROGRAMS.some((pattern) => name === pattern || matchesGlob(name, pattern)))
    .map((name) => join('usr/bin', name));
}
