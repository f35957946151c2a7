import type { ServiceParts } from './service-parts.ts';

/** Opens what a service reads and writes. `signal` ends it between two of the stores. */
export async function openStores(parts: ServiceParts, signal?: AbortSignal): Promise<void> {
  const { assets, dataFolder, gate, ledger, remoteJobs, storage } = parts;
  const stores = [dataFolder, storage, assets, ledger, gate];
  for (const store of stores) {
    signal?.throwIfAborted();
    await store?.start?.();
  }
  signal?.throwIfAborted();
  remoteJobs.start();
}

/** Closes it again; also after an incomplete {@link openStores}. */
export async function closeStores({
  assets,
  dataFolder,
  gate,
  ledger,
  remoteJobs,
  storage,
}: ServiceParts): Promise<void> {
  remoteJobs.stop();
  gate.stop();
  await dataFolder?.spareSpace.stop();
  await ledger.stop?.();
  await assets.stop?.();
  await dataFolder?.stop();
  await storage.stop();
}
