import { ARTIFACTS } from '../model/artifacts.ts';
import { contentKeyOf } from '../model/owner-file.ts';
import type { Storage } from './storage.ts';

/** What an asset store keeps until it is removed. */
export interface StoredAsset {
  assetKey: string;
  sizeBytes: number;
  /** The media type with which it is stored. */
  contentType: string;
}

/** The artifacts of jobs, and the contents of files. */
export async function* storedAssets(
  storage: Pick<Storage, 'jobsWithArtifacts' | 'files'>,
): AsyncGenerator<StoredAsset> {
  for await (const { artifacts } of storage.jobsWithArtifacts())
    for (const { name, assetKey, sizeBytes } of artifacts)
      yield { assetKey, sizeBytes, contentType: ARTIFACTS[name].contentType };
  for await (const file of storage.files.all())
    yield {
      assetKey: contentKeyOf(file),
      sizeBytes: file.sizeBytes,
      contentType: 'application/octet-stream',
    };
}
