/** Gives routes the catalog's definitions before they run statements. */

import type { Request } from "../../actor/request.js";
import type { CatalogView } from "../../catalog/catalog-view.js";

/** The definitions as they are now. */
export function withDefinitions<T>({ tenant }: Pick<Request, "tenant">, read: (catalog: CatalogView) => T): T {
  return tenant.withDefinitions(read);
}
