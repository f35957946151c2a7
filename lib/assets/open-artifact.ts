import { addAbortSignal } from 'node:stream';
import { ScenepressError } from '../base/errors.ts';
import { ARTIFACT_NAMES, ARTIFACTS, type ArtifactName } from '../model/artifacts.ts';
import type { Artifact } from '../model/job.ts';
import type { AssetStore, ByteRange, OpenedAsset } from './asset-store.ts';

/** Options of {@link RenderService.openArtifact}. */
export interface OpenArtifactOptions {
  /** Reports artifacts of other owners' jobs as `not_found`. */
  owner?: string;
  /** The bytes to read, with inclusive ends as in HTTP; default: all. An end beyond the last byte is that byte. */
  range?: ByteRange;
  /** Aborts the reading: the stream is destroyed with an `AbortError`. */
  signal?: AbortSignal;
}

/** An artifact being read. */
export interface OpenedArtifact extends OpenedAsset {
  /** The name of its file, such as `video.mp4`. */
  name: ArtifactName;
  /** The media type, for a `Content-Type` header. */
  contentType: string;
}

/**
 * Opens one of the artifacts of a job. Errors: `invalid_request`, `not_found`, `artifact_gone`; `storage_failed` when the
 * asset has another size than the artifact.
 */
export async function openArtifact(
  assets: AssetStore,
  artifacts: Artifact[],
  name: string,
  { range, signal }: Omit<OpenArtifactOptions, 'owner'>,
): Promise<OpenedArtifact> {
  const artifact = artifacts.find((artifact) => artifact.name === name);
  if (!artifact) {
    const shown = ARTIFACT_NAMES.find((known) => known === name) ?? 'artifact of this name';
    throw new ScenepressError('not_found', `The job has no ${shown}.`);
  }
  if (range && !isRange(range, artifact.sizeBytes)) {
    throw new ScenepressError(
      'invalid_request',
      `range must be { start, end } within the ${artifact.sizeBytes} bytes of ${artifact.name}`,
    );
  }
  signal?.throwIfAborted();
  const opened = await assets.open(artifact.assetKey, range, signal ? { signal } : {});
  if (!opened) {
    throw new ScenepressError(
      'artifact_gone',
      `${artifact.name} of this job has been removed. Render it again.`,
    );
  }
  if (opened.sizeBytes !== artifact.sizeBytes) {
    opened.stream.destroy();
    throw new ScenepressError(
      'storage_failed',
      `${artifact.name} of this job is damaged: ${opened.sizeBytes} of its ${artifact.sizeBytes} bytes are left. ` +
        'Restore it from a backup, or render it again.',
    );
  }
  if (signal) addAbortSignal(signal, opened.stream);
  return { ...opened, name: artifact.name, contentType: ARTIFACTS[artifact.name].contentType };
}

function isRange({ start, end }: ByteRange, sizeBytes: number): boolean {
  return Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && start < sizeBytes;
}
