import type { ServiceParts } from './service-parts.ts';

/** Opens what a service reads and writes. */
export async function openStores(parts: ServiceParts): Promise<void> {
  const { assets, dataFolder, gate, ledger, remoteJobs, storage } = parts;
  await dataFolder?.start();
  await storage.start();
  await assets.start?.();
  await ledger.start?.();
  await gate.start();
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
