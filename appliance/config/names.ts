const words = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

/** `dataDir`: `--data-dir`. */
export function flagOf(name: string): string {
  return `--${words(name).replaceAll('_', '-')}`;
}

/** `dataDir`: `SCENEPRESS_DATA_DIR`. */
export function variableOf(name: string): string {
  return `SCENEPRESS_${words(name).toUpperCase()}`;
}
