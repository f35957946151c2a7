import { SYSTEM_PACKAGES } from '../setup/index.mjs';

/** Packages that a checkout renders with, and those that make the root self-contained. */
export const ROOT_PACKAGES: string[] = [
  'python3',
  ...Object.keys(SYSTEM_PACKAGES.run),
  ...Object.keys(SYSTEM_PACKAGES.moreTex),
  'fontconfig',
  'libcairo2',
  'libpangocairo-1.0-0',
];

/** Packages to build pycairo and ManimPango. */
export const BUILD_PACKAGES: string[] = [...Object.keys(SYSTEM_PACKAGES.build), 'python3', 'python3-venv'];
