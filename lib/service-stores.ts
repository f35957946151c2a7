import type { ServiceParts } from './service-parts.ts';

/** Opens what a service reads and writes. */
export async function openStores({ assets, dataFolder, gate, ledger, storage }: ServiceParts): Promise<void> {
  await dataFolder?.start();
  await storage.start();
  await assets.start?.();
  await ledger.start?.();
  await gate.start();
}

/** Closes it again; also after an incomplete {@link openStores}. */
export async function closeStores({
  assets,
  dataFolder,
  gate,
  ledger,
  storage,
}: ServiceParts): Promise<void> {
  gate.stop();
  await dataFolder?.spareSpace.stop();
  await ledger.stop?.();
  await assets.stop?.();
  await dataFolder?.stop();
  await storage.stop();
}
