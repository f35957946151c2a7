import type { Asked } from './render-request.ts';

/** Which files the scenes could read. */
export type Files = Pick<Asked, 'folder' | 'withheld' | 'server'>;

const MISSING_MODULE = /^ModuleNotFoundError: No module named '([\w.]+)'/;
const MISSING_FILE = /^(FileNotFoundError|NotADirectoryError|OSError: could not find)\b/;
const FORBIDDEN = /^PermissionError\b/;
/** The renderer's words. */
const MISSING_TEX = /^TeX: .* can be added to (texmf|fonts)\/\S* of the studio's folder\.$/m;
const READ_ONLY = /^OSError: \[Errno 30\]/;

/** Advice for a scene's error about a missing file, module or font; undefined for other errors. */
export function remedyOf(error: string, { folder, withheld, server }: Files): string | undefined {
  if (server)
    return MISSING_MODULE.test(error) || MISSING_FILE.test(error)
      ? 'A service has no files of this machine. Send those that the scene needs: --file NAME=PATH.'
      : undefined;
  const [, place] = MISSING_TEX.exec(error) ?? [];
  if (place !== undefined) {
    const beside = place === 'texmf' && folder ? `Put its files into ${folder.path}, or` : 'Put its files';
    return `${beside} below ${place}/ of a folder of yours: --studio-dir DIR.`;
  }
  const [, module] = MISSING_MODULE.exec(error) ?? [];
  if (module !== undefined) return missingModule(folder, withheld);
  if (READ_ONLY.test(error) && folder)
    return `Scenes can't change the files of ${folder.path}; files with other names are removed after the render.`;
  if (MISSING_FILE.test(error))
    return folder
      ? `Scenes can read the files of ${folder.path} and no others. To use another folder: --folder DIR.`
      : (withheld ??
          'Scenes can read no files of this machine. To let them read those of a folder: --folder DIR.');
  if (FORBIDDEN.test(error) && folder)
    return `Scenes run as another user if scenepress runs as root: chmod -R o+rX ${folder.path}`;
  return undefined;
}

function missingModule(folder: Files['folder'], withheld: string | null): string {
  const python =
    'Other packages: --studio-dir DIR, in whose python/ they are (pip install --target DIR/python …).';
  return folder
    ? `Scenes can import Manim and its packages, and modules of ${folder.path}. To use another folder: --folder DIR. ${python}`
    : `Scenes can import Manim and its packages. ${withheld ?? 'To let them import modules of a folder: --folder DIR.'} ${python}`;
}
