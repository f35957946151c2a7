import type { UnpackedRoot } from '../../lib/internal.ts';
import type { Config } from '../config/config.ts';
import { ownCommand } from '../support/command-line.ts';

/** Suggested actions for a renderer that starts but doesn't render. */
export interface RendererRemedies {
  renderer: string;
  tex: string;
  fonts: string;
  speech: string;
}

const SPEECH =
  'Correct SCENEPRESS_SPEECH_COMMAND or SCENEPRESS_SPEECH_URL, or remove it. Until then scenes fail whose texts have no file.';
const OWN_FONTS = 'put fonts into the folder fonts/ of the data folder';

/** Advice for the renderer in use: a configured Python, the single executable's `root`, or the result of setup. */
export function rendererRemedies(
  { python }: Pick<Config, 'python'>,
  root: Pick<UnpackedRoot, 'path'> | undefined,
): RendererRemedies {
  if (python !== undefined) {
    return {
      renderer: `Repair the Python environment of ${python}, or omit --python (SCENEPRESS_PYTHON).`,
      tex: 'Install TeX (latex and dvisvgm) on this machine. Until then only scenes with formulas fail.',
      fonts: `Install fonts on this machine, or ${OWN_FONTS}.`,
      speech: SPEECH,
    };
  }
  if (root) {
    const again = `Stop the service and remove ${root.path}: the next start unpacks it again. If that does not help, copy the program here again.`;
    return { renderer: again, tex: again, fonts: `${again} Or ${OWN_FONTS}.`, speech: SPEECH };
  }
  return {
    renderer: `Run ${ownCommand('setup')} again: it installs the requirements of renders.`,
    tex: `Run ${ownCommand('setup')} as root, which installs TeX. Until then only scenes with formulas fail.`,
    fonts: `Run ${ownCommand('setup')} as root, which installs fonts, or ${OWN_FONTS}.`,
    speech: SPEECH,
  };
}
