/** Converts statements about triggers from the grammar's JSON to our syntax tree. Called by from-pg-ddl.ts. */
import type { AlterTableCmd, CreateTrigStmt, Node } from "@pgsql/types";
import type { AlterTableCommand } from "./ast-definitions.js";
import type { NameNode } from "./ast-query.js";
import type { CreateTriggerStatement, TriggerStatement } from "./ast-triggers.js";
import { type Conversion, only, pathOf, strings, tagOf } from "./conversion.js";
import { relationName } from "./from-pg-query.js";

/** Bits of CreateTrigStmt (src/include/catalog/pg_trigger.h). */
const BEFORE = 2;
const INSTEAD_OF = 64;
const EVENTS = [
  [4, "insert"],
  [8, "delete"],
  [16, "update"],
  [32, "truncate"],
] as const;

/** null: another statement. */
export function convertTrigger(node: Node, c: Conversion, position: number): TriggerStatement | null {
  switch (tagOf(node)) {
    case "CreateTrigStmt":
      return createTrigger(only(node, "CreateTrigStmt"), c, position);
    case "DropStmt": {
      const drop = only(node, "DropStmt");
      if (drop.removeType !== "OBJECT_TRIGGER") return null;
      return { kind: "drop trigger", ...onRelation(drop.objects?.[0]), ifExists: drop.missing_ok ?? false, position };
    }
    case "RenameStmt": {
      const rename = only(node, "RenameStmt");
      if (rename.renameType !== "OBJECT_TRIGGER") return null;
      const relation = relationName(rename.relation!, c);
      const { subname: name = "", newname: newName = "" } = rename;
      return { kind: "rename trigger", relation, name, newName, position };
    }
    case "CommentStmt": {
      const comment = only(node, "CommentStmt");
      if (comment.objtype !== "OBJECT_TRIGGER") return null;
      return { kind: "comment on trigger", ...onRelation(comment.object), comment: comment.comment || null, position };
    }
    default:
      return null;
  }
}

/** The grammar writes the trigger's name behind its relation's, and gives neither a position. */
function onRelation(node: Node | undefined): { readonly name: string; readonly relation: NameNode } {
  const path = pathOf(node);
  return { name: path.at(-1) ?? "", relation: { path: path.slice(0, -1), position: 0 } };
}

function createTrigger(node: CreateTrigStmt, c: Conversion, position: number): CreateTriggerStatement {
  const { timing = 0, events = 0 } = node;
  return {
    kind: "create trigger",
    name: node.trigname ?? "",
    replace: node.replace ?? false,
    relation: relationName(node.relation!, c),
    timing: timing & INSTEAD_OF ? "instead of" : timing & BEFORE ? "before" : "after",
    level: node.row ? "row" : "statement",
    events: EVENTS.flatMap(([bit, event]) => (events & bit ? [event] : [])),
    columns: strings(node.columns),
    when: c.optional(node.whenClause),
    function: strings(node.funcname),
    args: strings(node.args),
    constraint: node.isconstraint
      ? {
          from: node.constrrel === undefined ? null : relationName(node.constrrel, c),
          deferrable: (node.deferrable ?? false) || (node.initdeferred ?? false),
          initiallyDeferred: node.initdeferred ?? false,
        }
      : null,
    transitions: (node.transitionRels ?? []).map((item) => {
      const { name = "", isNew = false, isTable = false } = only(item, "TriggerTransition");
      return { name, isNew, isTable };
    }),
    position,
  };
}

const STATES: Partial<Record<NonNullable<AlterTableCmd["subtype"]>, "origin" | "disabled" | "replica" | "always">> = {
  AT_EnableTrig: "origin",
  AT_EnableTrigAll: "origin",
  AT_EnableTrigUser: "origin",
  AT_EnableAlwaysTrig: "always",
  AT_EnableReplicaTrig: "replica",
  AT_DisableTrig: "disabled",
  AT_DisableTrigAll: "disabled",
  AT_DisableTrigUser: "disabled",
};

const RULE_STATES: typeof STATES = {
  AT_EnableRule: "origin",
  AT_EnableAlwaysRule: "always",
  AT_DisableRule: "disabled",
};

/** ENABLE, DISABLE of a TRIGGER or a RULE in ALTER TABLE; null: another action. */
export function convertTriggerState({ subtype, name }: AlterTableCmd): AlterTableCommand | null {
  if (subtype === undefined) return null;
  const ofRule = RULE_STATES[subtype];
  if (ofRule !== undefined) return { kind: "set rule", name: name!, enabled: ofRule };
  const enabled = STATES[subtype];
  return enabled === undefined
    ? null
    : { kind: "set trigger", name: name ?? null, enabled, ...(/All$/.test(subtype) && { isAll: true }) };
}
