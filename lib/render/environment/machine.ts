import process from 'node:process';
import { ScenepressError } from '../../base/errors.ts';

/** Error: `renderer_unavailable` on machines for which there is no renderer. */
export function checkMachine(): void {
  const { platform, arch } = process;
  if (platform === 'linux' && arch === 'x64') return;
  throw new ScenepressError(
    'renderer_unavailable',
    `Renders need Linux on x64; this is ${platform} on ${arch}. Use a service on such a machine: \`scenepress render ` +
      '--server URL`, or scenepress/client.',
  );
}
