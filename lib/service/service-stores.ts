import { ClaimedAssets } from '../cluster/claimed-assets.ts';
import type { ServiceParts } from './service-parts.ts';

interface Store {
  start?(): Promise<void> | void;
  stop?(): Promise<void> | void;
}

/** The services of this process that have opened a store. */
const users = new WeakMap<Store, Set<ServiceParts>>();

/** Opens what a service reads and writes. `step` carries out the parts that may be aborted. */
export async function openStores(
  parts: ServiceParts,
  step: (open: () => Promise<void> | void) => Promise<void>,
): Promise<void> {
  const { assets, dataFolder, gate, ledger, remoteJobs, storage } = parts;
  for (const store of storesOf(parts)) users.set(store, (users.get(store) ?? new Set()).add(parts));
  // Not in a step: it does not wait for another machine.
  await dataFolder?.start();
  for (const store of [storage, assets, ledger, gate] as Store[]) await step(() => store.start?.());
  await step(() => remoteJobs.start());
}

/** Closes it again; also after an incomplete {@link openStores}. A store that another service uses stays open. */
export async function closeStores(parts: ServiceParts): Promise<void> {
  const { dataFolder, gate, remoteJobs, storeWatch } = parts;
  remoteJobs.stop();
  gate.stop();
  await storeWatch.stop();
  for (const store of storesOf(parts)) {
    const others = users.get(store);
    others?.delete(parts);
    if (others && others.size > 0) continue;
    if (store === dataFolder) await dataFolder.spareSpace.stop();
    await store.stop?.();
  }
}

/** In the order in which they are closed. */
function storesOf({ assets, dataFolder, ledger, storage }: ServiceParts): Store[] {
  const store = assets instanceof ClaimedAssets ? assets.store : assets;
  return [ledger, store, ...(dataFolder ? [dataFolder] : []), storage] as Store[];
}
