/** Converts statements about rules from the grammar's JSON to our syntax tree. Called by from-pg.ts. */
import type { Node } from "@pgsql/types";
import type { CreateRuleStatement, RuleStatement, StatementNode } from "./ast.js";
import type { NameNode } from "./ast-query.js";
import { type Conversion, only, pathOf, tagOf } from "./conversion.js";
import { relationName } from "./from-pg-query.js";

/** null: another statement. `convert`: the statements that are a rule's actions. */
export function convertRule(
  node: Node,
  c: Conversion,
  position: number,
  convert: (action: Node) => StatementNode,
): RuleStatement | null {
  switch (tagOf(node)) {
    case "RuleStmt": {
      const rule = only(node, "RuleStmt");
      return {
        kind: "create rule",
        name: rule.rulename ?? "",
        replace: rule.replace ?? false,
        relation: relationName(rule.relation!, c),
        event: (rule.event ?? "").replace(/^CMD_/, "").toLowerCase() as CreateRuleStatement["event"],
        instead: rule.instead ?? false,
        where: c.optional(rule.whereClause),
        actions: (rule.actions ?? []).map((action) => c.nested(() => convert(action))),
        text: "",
        position,
      };
    }
    case "DropStmt": {
      const drop = only(node, "DropStmt");
      if (drop.removeType !== "OBJECT_RULE") return null;
      return { kind: "drop rule", ...onRelation(drop.objects?.[0]), ifExists: drop.missing_ok ?? false, position };
    }
    case "RenameStmt": {
      const { renameType, relation, subname: name = "", newname: newName = "" } = only(node, "RenameStmt");
      if (renameType !== "OBJECT_RULE") return null;
      return { kind: "rename rule", relation: relationName(relation!, c), name, newName, position };
    }
    default:
      return null;
  }
}

/** The grammar writes the rule's name behind its relation's, and gives neither a position. */
function onRelation(node: Node | undefined): { readonly name: string; readonly relation: NameNode } {
  const path = pathOf(node);
  return { name: path.at(-1) ?? "", relation: { path: path.slice(0, -1), position: 0 } };
}
