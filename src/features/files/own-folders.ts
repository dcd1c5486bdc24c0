/** tessera_folders and tessera_files: the folders and files in SQL that a user may see (folder-access.ts). */
import type { ExecContext } from "../../query/exec/context.js";
import { need } from "../../query/expr/capability.js";
import { SYSTEM } from "../../sql/bind/system/system-view.js";
import { BOOL, INT8, JSONB, type SqlType, TEXT, TIMESTAMPTZ, type Value } from "../../values/values.js";
import { type AskOwn, ownRelation } from "../statements/own-relation.js";
import { FILES, FOLDERS, FOLDERS_NAME } from "./file-tables.js";
import { accessToFolder, seenFiles } from "./folder-access.js";

const OF_FOLDERS: Readonly<Record<string, SqlType>> = {
  id: TEXT,
  name: TEXT,
  root: TEXT,
  paused: BOOL,
  created_at: TIMESTAMPTZ,
  updated_at: TIMESTAMPTZ,
  scanned_at: TIMESTAMPTZ,
};

const OF_FILES: Readonly<Record<string, SqlType>> = {
  id: TEXT,
  path: TEXT,
  status: TEXT,
  size: INT8,
  hash: TEXT,
  kind: TEXT,
  media_type: TEXT,
  title: TEXT,
  metadata: JSONB,
  notes: JSONB,
  chunks: INT8,
  error_code: TEXT,
  error: TEXT,
  found_at: TIMESTAMPTZ,
  read_at: TIMESTAMPTZ,
};

async function seen(ask: AskOwn, context: ExecContext) {
  const rights = need(context, SYSTEM).currentRights();
  const places = await ask(
    `SELECT id, name, (options ->> 'table_id')::float8 FROM ${FOLDERS} ORDER BY created_at, id`,
    [],
  );
  return places.flatMap(([id, name, tableId]) => {
    const place = { id: id as string, name: name as string, tableId: tableId as number | null };
    const access = accessToFolder(rights, place);
    return access.sees === "nothing" ? [] : [{ ...place, access }];
  });
}

async function folders(ask: AskOwn, context: ExecContext) {
  const rows: (readonly Value[])[] = [];
  const list = Object.keys(OF_FOLDERS).join(", ");
  for (const { id } of await seen(ask, context)) {
    rows.push(...(await ask(`SELECT ${list} FROM ${FOLDERS} WHERE id = $1::text`, [id])));
  }
  return rows;
}

async function files(ask: AskOwn, context: ExecContext) {
  const rows: (readonly Value[])[] = [];
  const list = Object.keys(OF_FILES).join(", ");
  for (const folder of await seen(ask, context)) {
    const where = `folder_id = $1::text AND status <> 'gone'${seenFiles(folder)}`;
    const found = await ask(`SELECT ${list} FROM ${FILES} WHERE ${where} ORDER BY path`, [folder.id]);
    for (const row of found) rows.push([folder.name, folder.id, ...row]);
    if (context.shouldYield()) await context.yieldTurn();
  }
  return rows;
}

export const OWN_FOLDERS = [
  ownRelation({
    name: "tessera_folders",
    columns: OF_FOLDERS,
    table: FOLDERS_NAME,
    rows: (ask, _, context) => folders(ask, context),
  }),
  ownRelation({
    name: "tessera_files",
    columns: { collection: TEXT, folder_id: TEXT, ...OF_FILES },
    table: FOLDERS_NAME,
    rows: (ask, _, context) => files(ask, context),
  }),
];
