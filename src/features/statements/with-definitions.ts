/** What routes ask of the catalog before they run statements. */

import type { Request } from "../../actor/request.js";
import type { CatalogView } from "../../catalog/catalog-view.js";

/** The definitions as they are now. */
export function withDefinitions<T>({ tenant }: Request, read: (catalog: CatalogView) => T): T {
  const tx = tenant.partition.shard.begin({ readOnly: true });
  try {
    return read(tenant.catalog.view(tx));
  } finally {
    tx.rollback();
  }
}
