/**
 * Filesystem collections in SQL. CREATE COLLECTION … FROM FILESYSTEM and DROP COLLECTION
 * (sql/parse/collection-statements.ts) are calls of these functions, which work in the transaction of the statement;
 * the job begins, or ends, with the commit, which changes definitions (Partition.definitionsChanged).
 */

import { CALLER, type Request } from "../../actor/request.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import type { ExecContext } from "../../query/exec/context.js";
import { need } from "../../query/expr/capability.js";
import type { DeferredContext, DeferredEvaluation, ScalarFunction } from "../../query/expr/expr.js";
import { deferredFn } from "../../query/expr/functions/define.js";
import { SYSTEM } from "../../sql/bind/system/system-view.js";
import { BOOL, JSONB, type Json, TEXT, type Value } from "../../values/values.js";
import type { RunStatement } from "../documents/document-session.js";
import { folderNamed } from "./file-store.js";
import { accessToFolder, requireOwner } from "./folder-access.js";
import { eraseFolder, prepareFolder, writeFolder } from "./make-folder.js";

/** `retains`: the collection with the passages stays. */
type FolderChange =
  | {
      readonly kind: "create";
      readonly name: string;
      readonly path: string;
      readonly options: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "drop"; readonly name: string; readonly ifExists: boolean; readonly retains: boolean };

export const FOLDER_FUNCTIONS: readonly ScalarFunction[] = [
  changing("create_filesystem_collection", [TEXT, TEXT, JSONB], ([name, path, options]) => ({
    kind: "create",
    name: name as string,
    path: path as string,
    options: (options as Json).value as Readonly<Record<string, unknown>>,
  })),
  changing("drop_filesystem_collection", [TEXT, BOOL, BOOL], ([name, ifExists, retains]) => ({
    kind: "drop",
    name: name as string,
    ifExists: ifExists as boolean,
    retains: retains as boolean,
  })),
];

function changing(
  name: string,
  args: ScalarFunction["args"],
  changeOf: (args: readonly Value[]) => FolderChange,
): ScalarFunction {
  const evaluate: DeferredEvaluation["evaluate"] = async (columns, count, context) => {
    const request = context.services.capability(CALLER);
    if (request === null || request.ofAgent) {
      throw new DbError("forbidden", "Agents and recipes cannot create or drop filesystem collections.");
    }
    const values: Value[] = [];
    for (let i = 0; i < count; i++) {
      const given = columns.map((column) => column[i]!);
      values.push(await changeIn(request, changeOf(given), context));
    }
    return values;
  };
  return Object.freeze({ ...deferredFn(name, args, TEXT, evaluate, { rowsMax: 1 }), writes: true as const });
}

async function changeIn(request: Request, change: FolderChange, context: DeferredContext): Promise<string> {
  const { live, tx } = context as DeferredContext & ExecContext;
  const run: RunStatement = async ({ sql, params, own }) => {
    const { rows, count } = await context.run(sql, params, Number.MAX_SAFE_INTEGER, own);
    return { rows, affected: count };
  };
  if (change.kind === "create") {
    const prepared = await prepareFolder(request, { ...change, pathField: "FILESYSTEM" });
    await writeFolder(request, prepared, live ?? tx, run);
    const { folder, plan } = prepared;
    return `Collection "${folder.name}" created (${folder.id}): ${plan.files} files, ${plan.bytes} bytes.`;
  }
  const found = request.tenant.catalog.view(live ?? tx).table(null, "_file_collections") !== null;
  const folder = found ? await folderNamed(run, change.name) : null;
  const access = folder === null ? null : accessToFolder(need(context, SYSTEM).currentRights(), folder);
  if (folder === null || access!.sees === "nothing") {
    const text = `filesystem collection "${change.name}" does not exist`;
    if (change.ifExists) return `The ${text}, so nothing was dropped.`;
    throw sqlError("42P01", text, { hint: "DROP TABLE drops a collection that follows no folder." });
  }
  requireOwner(access!, folder.name);
  await eraseFolder(request, folder, change.retains, live ?? tx, run);
  return `Collection "${folder.name}" dropped.`;
}
