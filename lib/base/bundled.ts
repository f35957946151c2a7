/**
 * Rejects a copy of the library in a bundle, when it is imported: at the build, if the bundler runs the code, or else at
 * the start. Otherwise the first thread or renderer process would fail, because its file is missing.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/** In the library's folder in sources and in the build, but not in a bundle. */
const THREADS = ['render/pool/thread.js', 'render/pool/thread.ts'];

// Some bundlers leave it undefined.
const folder: string | undefined = import.meta.dirname;
const isWhole = folder !== undefined && THREADS.some((path) => existsSync(join(folder, '..', path)));
// The single executable is a bundle that was made together with its threads.
if (!isWhole && !process.getBuiltinModule('node:sea').isSea()) {
  throw new Error(
    'scenepress must not be bundled, because it starts files of its own as threads and processes. Keep it external: ' +
      "serverExternalPackages: ['scenepress'] in the configuration of Next.js, external: ['scenepress'] in that of " +
      "esbuild, ssr: { external: ['scenepress'], noExternal: [] } in that of Vite, " +
      "externals: [/^scenepress(\\/|$)/] and externalsType: 'module' (of a CommonJS bundle: 'commonjs') in that of webpack. " +
      'Code for browsers and serverless functions can use scenepress/client and scenepress/webhooks.',
  );
}
