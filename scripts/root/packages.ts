import { systemPackages } from '../setup.mjs';

/** What a checkout renders with, and what makes the root whole without a system around it. */
export const ROOT_PACKAGES: string[] = [
  ...Object.keys(systemPackages.run).map((name) => (name === 'python3-venv' ? 'python3' : name)),
  'fontconfig',
  'libcairo2',
  'libpangocairo-1.0-0',
  // More of TeX than a checkout asks for: physics, siunitx, algorithms; phonetic letters.
  'texlive-science',
  'tipa',
];

/** Where pycairo and ManimPango are built. */
export const BUILD_PACKAGES: string[] = [...Object.keys(systemPackages.build), 'python3', 'python3-venv'];
