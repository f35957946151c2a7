import { pagesOf } from '../base/pages.ts';
import type { Storage } from '../storage/storage.ts';

const PAGE = 100;

/** The number of unfinished deliveries; with `drop`, marks them as failed. */
export async function unfinishedDeliveries(storage: Storage, { drop }: { drop: boolean }): Promise<number> {
  let count = 0;
  const pages = pagesOf(
    (page) => storage.deliveries.listUnfinished(page),
    ({ deliveryId }) => deliveryId,
    PAGE,
  );
  for await (const page of pages) {
    count += page.length;
    if (!drop) continue;
    await storage.transaction(async (tx) => {
      for (const delivery of page) await storage.deliveries.update(tx, { ...delivery, dueAtMs: null });
    });
  }
  return count;
}
