/** Converts CREATE, ALTER and DROP STATISTICS from the grammar's JSON to our syntax tree. Called by from-pg-ddl.ts. */
import type { Node } from "@pgsql/types";
import { sqlError } from "../../protocol/errors.js";
import type { NameNode } from "./ast-query.js";
import type { StatisticsStatement } from "./ast-statistics.js";
import { type Conversion, only, pathOf, strings, tagOf } from "./conversion.js";
import { relationName } from "./from-pg-query.js";

const named = (path: readonly string[]): NameNode => ({ path: [...path], position: 0 });

/** null: another statement. */
export function convertStatistics(node: Node, c: Conversion, position: number): StatisticsStatement | null {
  switch (tagOf(node)) {
    case "CreateStatsStmt": {
      const create = only(node, "CreateStatsStmt");
      const path = strings(create.defnames);
      return {
        kind: "create statistics",
        name: path.length === 0 ? null : named(path),
        kinds: strings(create.stat_types),
        keys: (create.exprs ?? []).map((item) => {
          const { name, expr } = only(item, "StatsElem");
          return name !== undefined ? { column: name } : { expr: c.expr(expr!) };
        }),
        tables: (create.relations ?? []).map((item) => {
          if (tagOf(item) !== "RangeVar") {
            const message = "CREATE STATISTICS only supports relation names in the FROM clause";
            throw sqlError("0A000", message, { position });
          }
          return relationName(only(item, "RangeVar"), c);
        }),
        ifNotExists: create.if_not_exists ?? false,
        position,
      };
    }
    case "AlterStatsStmt": {
      const { defnames, missing_ok: ifExists = false } = only(node, "AlterStatsStmt");
      return { kind: "alter statistics", name: named(strings(defnames)), change: {}, ifExists, position };
    }
    case "DropStmt": {
      const drop = only(node, "DropStmt");
      if (drop.removeType !== "OBJECT_STATISTIC_EXT") return null;
      const names = (drop.objects ?? []).map((name) => named(pathOf(name)));
      return { kind: "drop statistics", names, ifExists: drop.missing_ok ?? false, position };
    }
    case "RenameStmt": {
      const { renameType, object, newname = "" } = only(node, "RenameStmt");
      if (renameType !== "OBJECT_STATISTIC_EXT") return null;
      const name = named(pathOf(object));
      return { kind: "alter statistics", name, change: { name: newname }, ifExists: false, position };
    }
    case "AlterObjectSchemaStmt": {
      const { objectType, object, newschema = "" } = only(node, "AlterObjectSchemaStmt");
      if (objectType !== "OBJECT_STATISTIC_EXT") return null;
      const name = named(pathOf(object));
      return { kind: "alter statistics", name, change: { schema: newschema }, ifExists: false, position };
    }
    case "CommentStmt": {
      const { objtype, object, comment } = only(node, "CommentStmt");
      if (objtype !== "OBJECT_STATISTIC_EXT") return null;
      const name = named(pathOf(object));
      return { kind: "alter statistics", name, change: { comment: comment || null }, ifExists: false, position };
    }
    default:
      return null;
  }
}
