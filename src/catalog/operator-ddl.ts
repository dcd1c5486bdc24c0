/** Applies CREATE, ALTER and DROP of operators and casts. Called by ddl.ts. */
import { sqlError } from "../protocol/errors.js";
import { type Author, requireCreate, requireOwner, requireUse } from "./author.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { CatalogView } from "./catalog-view.js";
import { type DdlOutcome, NOTHING } from "./ddl-outcome.js";
import { dropOperator } from "./drop-dependents.js";
import { type CastDef, computesOf, type OperatorDef, typeLabel, typesOf } from "./operator.js";
import type { OperatorCommand } from "./operator-command.js";
import { permissionDenied } from "./rights.js";

export function applyOperatorCommand(editor: CatalogEditor, command: OperatorCommand, nowMicros: number): DdlOutcome {
  switch (command.kind) {
    case "create operator": {
      const operator = Object.freeze({ ...command.operator, id: editor.nextId(), createdAt: nowMicros });
      requireCreate(editor.author, operator.schema, editor.view);
      requireMaker(editor.author, operator, editor.view);
      editor.keep("operator", operator);
      return { ...NOTHING, tag: "CREATE OPERATOR" };
    }
    case "alter operator":
      requireOperatorOwner(editor.author, command.after, editor.view);
      requireCreate(editor.author, command.after.schema, editor.view);
      editor.keep("operator", Object.freeze(command.after));
      return { ...NOTHING, tag: command.tag };
    case "create cast": {
      const cast = Object.freeze({ ...command.cast, id: editor.nextId(), createdAt: nowMicros });
      requireMaker(editor.author, cast, editor.view);
      requireTypeOwner(editor.author, cast);
      editor.keep("cast", cast);
      return { ...NOTHING, tag: "CREATE CAST" };
    }
    case "comment on cast":
      requireTypeOwner(editor.author, command.after);
      editor.keep("cast", Object.freeze(command.after));
      return { ...NOTHING, tag: "COMMENT" };
    case "drop operators": {
      const outcome = { ...NOTHING, tag: command.tag };
      const notices = [...command.notices];
      const cleared: DdlOutcome["cleared"][number][] = [];
      const clearedIndexes: DdlOutcome["clearedIndexes"][number][] = [];
      for (const definition of command.dropped) {
        if ("source" in definition) requireTypeOwner(editor.author, definition);
        else requireOperatorOwner(editor.author, definition, editor.view);
        const dropped = dropOperator(editor, definition, command.cascade);
        notices.push(...dropped.notices);
        cleared.push(...dropped.cleared);
        clearedIndexes.push(...dropped.clearedIndexes);
      }
      return { ...outcome, notices, cleared, clearedIndexes };
    }
  }
}

/** Throws 42501 unless the author may call the function and use the types. */
function requireMaker(author: Author | null, definition: OperatorDef | CastDef, view: CatalogView): void {
  if (author === null) return;
  requireUse(author, typesOf(definition), view);
  const computes = computesOf(definition);
  if (computes === null || !("id" in computes) || author.rights.may(computes.id, "X")) return;
  throw permissionDenied("function", view.functionById(computes.id)!.name);
}

/** An operator is its function's owner's; one of a function of the system is whoever's who may make one there. */
function requireOperatorOwner(author: Author | null, definition: OperatorDef, view: CatalogView): void {
  const { computes, schema, name } = definition;
  if ("id" in computes) requireOwner(author, "operator", { id: computes.id, name });
  else requireCreate(author, schema, view);
}

/** Throws 42501 unless the author owns one of the types; those of the system are superusers'. */
function requireTypeOwner(author: Author | null, { source, target }: CastDef): void {
  if (author === null || !author.rights.ofRoles || author.rights.isSuperuser) return;
  const owns = ({ user }: CastDef["source"]) => user !== undefined && author.rights.mayAlter(user.id);
  if (owns(source) || owns(target)) return;
  throw sqlError("42501", `must be owner of type ${typeLabel(source)} or type ${typeLabel(target)}`);
}
