/** Who may use which of the models that a tenant has trained. Models are rows: here is only who may use them. */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { CatalogView } from "./catalog-view.js";
import { permissionDenied, type Rights } from "./rights.js";
import { type AccessDef, MEMBER_ROLE, PUBLIC_ID, usualGrants } from "./role.js";

/** Of an `AccessDef` of a model of which nothing has been said before: the editor gives it an id. */
export const NOT_NUMBERED = 0;

/** Null: it is common property, or there is none of that name. */
export function accessToModel(catalog: CatalogView, name: string): AccessDef | null {
  return catalog.accesses().find((access) => access.kind === "model" && access.name === name) ?? null;
}

/**
 * A model tells of the rows that it was trained on. So whoever may not see all tables needs a grant of his own: what
 * everybody has does not count.
 */
function mayUse(rights: Rights, access: AccessDef | null): boolean {
  if (access === null) return rights.mayAllButMemories;
  if (!rights.may(access.objectId, "U")) return false;
  const isOwn = ({ privilege, grantee }: AccessDef["grants"][number]) =>
    privilege === "U" && grantee !== PUBLIC_ID && grantee !== MEMBER_ROLE.id && rights.hasRole(grantee);
  return rights.mayAllButMemories || access.grants.some(isOwn);
}

/** Throws 42501. */
export function requireModel(rights: Rights, name: string): void {
  if (!rights.ofRoles || mayUse(rights, accessToModel(rights.catalog, name))) return;
  throw permissionDenied("model", name);
}

/**
 * Throws 42501 unless it owns the model, or nobody does. `isNew`: there is no model of the name, so that who trains it
 * will own it. A model that nobody can own tells everybody of the rows that it was trained on: it is only for those who
 * may see all.
 */
export function requireModelOwner(rights: Rights, name: string, isNew = false): void {
  if (!rights.ofRoles) return;
  const access = accessToModel(rights.catalog, name);
  if (access !== null ? rights.mayAlter(access.objectId) : rights.mayAllButMemories) return;
  if (access !== null || !isNew) throw sqlError("42501", `must be owner of model ${name}`);
  if (rights.acting.role !== null) return;
  throw sqlError("42501", `permission denied to train the model ${name}: no role could own it`, {
    hint: "You may not see all tables, so a model of yours must not be common property. An administrator makes a role for you: CREATE USER.",
  });
}

/** Which models it may use: those of the names alone, or all but those. */
export function usableModels(rights: Rights): {
  readonly only: readonly string[] | null;
  readonly except: readonly string[];
} {
  if (!rights.ofRoles) return { only: null, except: [] };
  const said = rights.catalog.accesses().filter(({ kind }) => kind === "model");
  const named = (isUsable: boolean) =>
    said.filter((access) => mayUse(rights, access) === isUsable).map(({ name }) => name!);
  return { only: rights.mayAllButMemories ? null : named(true), except: named(false) };
}

/** A model of a new name belongs to who trained it, where the tenant has roles. Throws as `requireModelOwner`. */
export function ownModel(
  editor: CatalogEditor,
  rights: Rights,
  maker: number | null,
  { name, isNew }: { readonly name: string; readonly isNew: boolean },
): void {
  requireModelOwner(rights, name, isNew);
  if (maker === null || accessToModel(editor.view, name) !== null) return;
  const grants = usualGrants("model", maker);
  editor.putAccess({ objectId: editor.nextId(), kind: "model", name, owner: maker, grants });
}

/** The model is gone. */
export function forgetModel(editor: CatalogEditor, name: string): void {
  const access = accessToModel(editor.view, name);
  if (access !== null) editor.dropAccess(access.objectId);
}
