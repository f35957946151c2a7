import { SYSTEM_PACKAGES } from '../setup/index.mjs';

/** Packages that a checkout renders with, and those that make the root self-contained. */
export const ROOT_PACKAGES: string[] = [
  ...Object.keys(SYSTEM_PACKAGES.run).map((name) => (name === 'python3-venv' ? 'python3' : name)),
  'fontconfig',
  'libcairo2',
  'libpangocairo-1.0-0',
];

/** Packages to build pycairo and ManimPango. */
export const BUILD_PACKAGES: string[] = [...Object.keys(SYSTEM_PACKAGES.build), 'python3', 'python3-venv'];
