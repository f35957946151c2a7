import { ownCommand } from '../command-line.ts';
import type { Config } from '../config/config.ts';
import type { UnpackedRoot } from '../packed/unpacked-root.ts';

/** What to do about a renderer that is there and doesn't render. */
export interface RendererRemedies {
  renderer: string;
  tex: string;
  fonts: string;
}

const OWN_FONTS = 'put fonts into the folder fonts/ of the data folder';

/** Advice that fits what renders here: a configured Python, the single executable's `root`, or what the set-up made. */
export function rendererRemedies(
  { python }: Pick<Config, 'python'>,
  root: Pick<UnpackedRoot, 'path'> | undefined,
): RendererRemedies {
  if (python !== undefined) {
    return {
      renderer: `Repair the Python environment of ${python}, or leave out --python (SCENEPRESS_PYTHON).`,
      tex: 'Install TeX (latex and dvisvgm) on this machine. Scenes with formulas fail meanwhile, others work.',
      fonts: `Install fonts on this machine, or ${OWN_FONTS}.`,
    };
  }
  if (root) {
    const again = `Stop the service and remove ${root.path}: the next start unpacks it again. If that does not help, copy the program here again.`;
    return { renderer: again, tex: again, fonts: `${again} Or ${OWN_FONTS}.` };
  }
  return {
    renderer: `Run ${ownCommand('setup')} again: it installs what renders need.`,
    tex: `Run ${ownCommand('setup')} as root, which installs TeX. Scenes with formulas fail meanwhile, others work.`,
    fonts: `Run ${ownCommand('setup')} as root, which installs fonts, or ${OWN_FONTS}.`,
  };
}
