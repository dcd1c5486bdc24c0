/** Who may use, and who changes, the tenant's trained models (GRANT USAGE ON MODEL). */
import { loginOf } from "../../actor/caller-rights.js";
import type { Request } from "../../actor/request.js";
import type { CatalogView } from "../../catalog/catalog-view.js";
import { forgetModel, ownModel, requireModelOwner } from "../../catalog/model-access.js";
import { actingAs, type Rights, rightsOf } from "../../catalog/rights.js";
import { ADMIN_ROLE } from "../../catalog/role.js";
import { withDefinitions } from "../statements/with-definitions.js";

type Tx = Parameters<Request["commitPart"]>[0];

function rightsIn({ head }: Request, catalog: CatalogView): Rights {
  return rightsOf(catalog, actingAs(catalog, loginOf(head)));
}

/** Of the request's caller. */
export function callersRights(request: Request): Rights {
  return withDefinitions(request, (catalog) => rightsIn(request, catalog));
}

/** Throws 42501 unless the caller may change the model; `isNew`: train the first of its name. */
export function requireToTrain(request: Request, name: string, isNew = false): void {
  requireModelOwner(callersRights(request), name, isNew);
}

/** In the transaction that stores a model: a new name is the caller's. Throws 42501 for another's. */
export function noteModel(request: Request, tx: Tx, model: { readonly name: string; readonly isNew: boolean }): void {
  const { catalog } = request.tenant;
  const view = catalog.view(tx);
  const rights = rightsIn(request, view);
  if (view.roles().length === 0 && !rights.ofRoles) return;
  const { role, superuser } = rights.acting;
  catalog.change(tx, (editor) => ownModel(editor, rights, role?.id ?? (superuser ? ADMIN_ROLE.id : null), model));
}

/** In the transaction that removes the last model of the name. */
export function forgetName(request: Request, tx: Tx, name: string): void {
  request.tenant.catalog.change(tx, (editor) => forgetModel(editor, name));
}
