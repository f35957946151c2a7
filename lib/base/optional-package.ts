/**
 * The command that installs an optional peer dependency: in a checkout, whose set-up installs none of them for a service,
 * or in the project that has this package. `module`: the URL of a module of the library.
 */
export function installCommand(name: string, module: string = import.meta.url): string {
  return module.endsWith('.ts') ? 'node scripts/setup.mjs --npm-only' : `npm install ${name}`;
}
