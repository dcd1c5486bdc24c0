/**
 * Who may do what with a folder: that goes by the folder's collection. Who may read the collection sees the folder and
 * the files in it; who owns the collection changes it. Where policies hide passages, a file is seen that has a passage
 * which is seen. Of a folder that somebody may not see, nothing tells that it is there.
 */
import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Request } from "../../actor/request.js";
import type { CatalogView } from "../../catalog/catalog-view.js";
import type { Rights } from "../../catalog/rights.js";
import type { TableDef } from "../../catalog/table.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { allFolders, type Folder, findFolder, noFolder } from "./file-store.js";
import { FILES } from "./file-tables.js";

type Place = Pick<Folder, "name" | "tableId">;

export interface FolderAccess {
  /** `some`: policies hide passages. */
  readonly sees: "all" | "some" | "nothing";
  readonly owns: boolean;
}

export type SeenFolder = Folder & { readonly access: FolderAccess };

/** The table of its passages; null: it was dropped, whatever has its name now. */
export function tableOfFolder(catalog: CatalogView, { name, tableId }: Place): TableDef | null {
  const table = catalog.table(null, name);
  return table !== null && (tableId === null || table.id === tableId) ? table : null;
}

/** Throws not_found where there is no such table. */
export function requireTable(catalog: CatalogView, folder: Place): void {
  if (tableOfFolder(catalog, folder) !== null) return;
  throw new DbError("not_found", `The folder's collection "${folder.name}" was dropped.`, {
    hint: "Delete the filesystem collection, and make it again.",
  });
}

export function accessToFolder(rights: Rights, folder: Place): FolderAccess {
  if (!rights.ofRoles || rights.isSuperuser) return { sees: "all", owns: true };
  const table = tableOfFolder(rights.catalog, folder);
  if (table === null || !rights.may(table.id, "r")) return { sees: "nothing", owns: false };
  return { sees: rights.isRestricted(table.id) ? "some" : "all", owns: rights.mayAlter(table.id) };
}

function accessOf(request: Pick<Request, "tenant" | "head">, folder: Place): FolderAccess {
  return withDefinitions(request, (catalog) => accessToFolder(rightsOfCaller(request.head)(catalog), folder));
}

/** By id, or by the collection's name. Throws not_found. */
export async function seenFolder(request: Request, idOrName: string): Promise<SeenFolder> {
  const folder = await findFolder(request, idOrName);
  const access = accessOf(request, folder);
  if (access.sees === "nothing") throw noFolder(idOrName);
  return { ...folder, access };
}

/** The same. Throws 42501 unless the caller owns the collection, or nobody does. */
export async function ownFolder(request: Request, idOrName: string): Promise<SeenFolder> {
  const folder = await seenFolder(request, idOrName);
  requireOwner(folder.access, folder.name);
  return folder;
}

export function requireOwner({ owns }: FolderAccess, name: string): void {
  if (!owns) throw sqlError("42501", `must be owner of collection ${name}`);
}

/** Throws not_found and forbidden: what is told of work on files leaves out none of them. */
export function requireWholeFolder(request: Pick<Request, "tenant" | "head">, idOrName: string, folder: Place): void {
  const { sees } = accessOf(request, folder);
  if (sees === "nothing") throw noFolder(idOrName);
  if (sees === "all") return;
  throw new DbError("forbidden", `You may not see all of the collection "${folder.name}", so not its progress.`, {
    hint: "GET /v1/filesystem-collections/{id}/documents lists the files that you may see.",
  });
}

export async function seenFolders(request: Request, limit: number, offset: number) {
  const seen = (await allFolders(request)).flatMap((folder) => {
    const access = accessOf(request, folder);
    return access.sees === "nothing" ? [] : [{ ...folder, access }];
  });
  return { folders: seen.slice(offset, offset + limit), total: seen.length };
}

/** A condition on files, behind others, for statements that run with the caller's rights to the collection. */
export function seenFiles({ name, access }: Pick<SeenFolder, "name" | "access">): string {
  if (access.sees === "all") return "";
  return ` AND EXISTS (SELECT 1 FROM public."${name}" AS passage WHERE passage.document_id = ${FILES}.id)`;
}
