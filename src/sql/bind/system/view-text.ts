/** The query of a view as pg_get_viewdef shows it: as written, with the schemas that the search path does not give. */
import type { ViewQuery } from "../../../catalog/kept-query.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import { oidOfId } from "../../../query/expr/types.js";
import type { FromTable } from "../../parse/ast-query.js";
import { parseSql } from "../../parse/parse.js";
import { catalogIndex } from "./catalog-index.js";
import { isRelationVisible, shownNames } from "./object-names.js";
import { qualified, queryText } from "./relation-facts.js";
import type { SystemView } from "./system-view.js";

interface Insertion {
  readonly at: number;
  readonly length: number;
  readonly text: string;
}

export function viewText(view: SystemView, query: ViewQuery): string {
  return queryText(keptText(view, query, parseSql(query.sql)));
}

/** A text that is kept with a definition, with the names of now. */
export function keptText(view: SystemView, query: ViewQuery, node: unknown): string {
  const insertions = [...namesToQualify(view, query, node)].sort((a, b) => b.at - a.at);
  const written = insertions.reduce(
    (text, { at, length, text: name }) => text.slice(0, at) + name + text.slice(at + length),
    query.sql,
  );
  return shownNames(view, written);
}

function* namesToQualify(view: SystemView, { sql, relations }: ViewQuery, node: unknown): Iterable<Insertion> {
  const { relations: known } = catalogIndex(view.catalog);
  const own = new Set(commonTablesIn(node));
  for (const { name, alias, position = 0 } of tablesIn(node)) {
    const [written] = name.path;
    if (name.path.length > 1 || own.has(written!)) continue;
    const used = relations.find((relation) => relation.name === written);
    const current = used && known.get(oidOfId(used.id));
    if (current === undefined) continue;
    const isSame = current.name === written && isRelationVisible(view, current.oid) === true;
    const at = (name.position > 0 ? name.position : position) - 1;
    const length = /^(?:"(?:[^"]|"")*"|[\p{L}\p{N}_$]+)/u.exec(sql.slice(at))?.[0].length ?? 0;
    if (isSame || at < 0 || length === 0) continue;
    const renamed = current.name !== written && alias === null ? ` AS ${quoteIdentifier(written!)}` : "";
    yield { at, length, text: qualified(current) + renamed };
  }
}

type NamedTable = Pick<FromTable, "name" | "alias"> & { readonly position?: number };

/** Relations that are read or changed, at any depth. */
function* tablesIn(node: unknown): Iterable<NamedTable> {
  if (typeof node !== "object" || node === null) return;
  const { name, alias } = node as Partial<NamedTable>;
  if (alias !== undefined && typeof name === "object" && "path" in name) yield node as NamedTable;
  for (const part of Object.values(node)) yield* tablesIn(part);
}

/** Names that WITH gives to queries. */
function* commonTablesIn(node: unknown): Iterable<string> {
  if (typeof node !== "object" || node === null) return;
  if ("query" in node && "name" in node && typeof node.name === "string") yield node.name;
  for (const part of Object.values(node)) yield* commonTablesIn(part);
}
