/** Gives routes the catalog's definitions before they run statements, and what the caller may do by them. */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Request } from "../../actor/request.js";
import type { CatalogView } from "../../catalog/catalog-view.js";

/** The definitions as they are now. */
export function withDefinitions<T>({ tenant }: Pick<Request, "tenant">, read: (catalog: CatalogView) => T): T {
  return tenant.withDefinitions(read);
}

/** Whether neither a policy nor a missing right hides any of the table from the caller. */
export function readsAll(request: Pick<Request, "tenant" | "head">, tableId: number): boolean {
  return withDefinitions(request, (catalog) => rightsOfCaller(request.head)(catalog).mayAll(tableId, ["r"]));
}
