import type { RenderLimits } from '../../lib/index.ts';
import type { Config } from '../config/config.ts';

const MIB = 1024 * 1024;

/** The configured render limits. */
export function limitsOf(config: Config): Omit<RenderLimits, 'addressSpaceBytes' | 'openFiles'> {
  return {
    timeoutMs: config.renderTimeoutSeconds * 1000,
    memoryBytes: config.renderMemoryMb * MIB,
    processes: config.renderProcesses,
    fileSizeBytes: config.renderFileMb * MIB,
    diskBytes: config.renderDiskMb * MIB,
    files: config.renderFiles,
    outputBytes: config.renderOutputMb * MIB,
    frames: config.renderFrames,
  };
}
