/**
 * The columns and CHECK constraints that a new table inherits, merged with those of its own definition. After
 * MergeAttributes and MergeCheckConstraint of PostgreSQL (src/backend/commands/tablecmds.c). Called by CREATE TABLE …
 * INHERITS; a partition takes over its parent's definition in the same way.
 */
import type { NewCheck } from "../../catalog/ddl-command.js";
import { sameType } from "../../catalog/inheritance.js";
import type { NewColumn } from "../../catalog/new-column.js";
import { isTemporarySchema } from "../../catalog/schema.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { displayName } from "../../query/expr/types.js";
import type { NameNode } from "../parse/ast-query.js";
import { printExpr } from "../parse/print-expr.js";
import type { ColumnDraft } from "./bind-column-def.js";
import { lookUpTable } from "./bind-from.js";
import type { Binding } from "./binding.js";
import { parseStored } from "./stored-names.js";

/** The tables of INHERITS, in the order named. Throws 42809, 42P07. */
export function lookUpParents(names: readonly NameNode[], schema: string, binding: Binding): TableDef[] {
  const parents: TableDef[] = [];
  for (const name of names) {
    const parent = lookUpTable(name, binding);
    const refuse = (message: string) => sqlError("42809", message, { position: name.position });
    if (parent.partitionKey !== undefined) throw refuse(`cannot inherit from partitioned table "${parent.name}"`);
    if (parent.partitionBound !== undefined) throw refuse(`cannot inherit from partition "${parent.name}"`);
    if (parent.materialized) throw refuse(`inherited relation "${parent.name}" is not a table or foreign table`);
    if (isTemporarySchema(parent.schema) && !isTemporarySchema(schema)) {
      throw refuse(`cannot inherit from temporary relation "${parent.name}"`);
    }
    if (parents.includes(parent)) {
      throw sqlError("42P07", `relation "${parent.name}" would be inherited from more than once`);
    }
    parents.push(parent);
  }
  return parents;
}

export interface MergedColumns {
  /** Those of the parents first, in the parents' order, then those that only the table itself has. */
  readonly columns: readonly ColumnDraft[];
  readonly notices: readonly string[];
}

/** A column as the parents have it. */
interface Inherited {
  readonly draft: ColumnDraft;
  /** Parents disagree on its default or generation expression. */
  readonly conflict: "default" | "generation" | null;
}

/** Throws 42804 where types disagree, 42611 where defaults do. */
export function mergeColumns(parents: readonly TableDef[], own: readonly ColumnDraft[]): MergedColumns {
  const notices: string[] = [];
  const inherited = new Map<string, Inherited>();
  for (const parent of parents) {
    for (const { column, generatedSql } of inheritableColumns(parent)) {
      const before = inherited.get(column.name);
      if (before === undefined) {
        const generatedNode = generatedSql === null ? null : parseStored(generatedSql, parent.schema);
        inherited.set(column.name, { draft: { column, defaultNode: null, generatedNode }, conflict: null });
        continue;
      }
      notices.push(`merging multiple inherited definitions of column "${column.name}"`);
      inherited.set(column.name, mergedParents(before, column, generatedSql));
    }
  }
  const rest: ColumnDraft[] = [];
  const names = [...inherited.keys()];
  own.forEach((draft, place) => {
    const { name } = draft.column;
    const before = inherited.get(name);
    if (before === undefined) {
      rest.push(draft);
      return;
    }
    notices.push(
      names.indexOf(name) === place
        ? `merging column "${name}" with inherited definition`
        : `moving and merging column "${name}" with inherited definition`,
    );
    inherited.set(name, mergedWithOwn(before, draft));
  });
  for (const [name, { conflict }] of inherited) {
    if (conflict === null) continue;
    const [what, hint] =
      conflict === "default" ? ["default values", "a default"] : ["generation expressions", "a generation expression"];
    throw sqlError("42611", `column "${name}" inherits conflicting ${what}`, {
      hint: `To resolve the conflict, specify ${hint} explicitly.`,
    });
  }
  return { columns: [...Array.from(inherited.values(), ({ draft }) => draft), ...rest], notices };
}

/** A table's columns as one that inherits from it has them: without what numbers them. */
function inheritableColumns(parent: TableDef): { readonly column: NewColumn; readonly generatedSql: string | null }[] {
  return parent.columns.map(({ id, name, type, notNull, identity, defaultSql, generatedSql, details }) => ({
    column: {
      name,
      type,
      // The columns of a primary key are NOT NULL as columns, too.
      notNull: notNull || (parent.primaryKey?.includes(id) ?? false),
      defaultSql: identity === null ? defaultSql : null,
      identity: null,
      sequence: null,
      inherited: 1,
      local: false,
      ...(details && { details }),
    },
    generatedSql: generatedSql ?? null,
  }));
}

function mergedParents({ draft, conflict }: Inherited, other: NewColumn, generatedSql: string | null): Inherited {
  const { column, generatedNode } = draft;
  if (!sameType(column.type, other.type)) {
    throw sqlError("42804", `inherited column "${column.name}" has a type conflict`, {
      detail: `${displayName(column.type)} versus ${displayName(other.type)}`,
    });
  }
  if ((generatedNode === null) !== (generatedSql === null)) {
    throw sqlError("42804", `inherited column "${column.name}" has a generation conflict`);
  }
  const generated = generatedNode === null ? null : printExpr(generatedNode);
  const differs =
    generated !== null && generated !== generatedSql
      ? "generation"
      : column.defaultSql !== null && other.defaultSql !== null && column.defaultSql !== other.defaultSql
        ? "default"
        : null;
  return {
    draft: {
      ...draft,
      column: {
        ...column,
        notNull: column.notNull || other.notNull,
        defaultSql: column.defaultSql ?? other.defaultSql,
        inherited: column.inherited! + 1,
      },
    },
    conflict: conflict ?? differs,
  };
}

/** The table's own definition takes precedence over inherited ones; identity is never inherited. */
function mergedWithOwn({ draft: before, conflict }: Inherited, given: ColumnDraft): Inherited {
  const { column } = before;
  const own = column.defaultSql === null ? given : withoutAssigned(given);
  const { name } = column;
  if (!sameType(column.type, own.column.type)) {
    throw sqlError("42804", `column "${name}" has a type conflict`, {
      detail: `${displayName(column.type)} versus ${displayName(own.column.type)}`,
    });
  }
  const ownDefault = own.defaultNode !== null || own.column.defaultSql !== null || own.column.sequence !== null;
  if (before.generatedNode !== null) {
    if (own.generatedNode !== null) {
      throw sqlError("42611", `child column "${name}" specifies generation expression`, {
        hint: "Omit the generation expression in the definition of the child table column to inherit the generation expression from the parent table.",
      });
    }
    const what = own.column.identity !== null ? "identity" : ownDefault ? "default" : null;
    if (what !== null) {
      throw sqlError("42611", `column "${name}" inherits from generated column but specifies ${what}`);
    }
  }
  const replaces = ownDefault || own.generatedNode !== null;
  return {
    draft: {
      defaultNode: own.defaultNode,
      generatedNode: own.generatedNode ?? before.generatedNode,
      column: {
        ...own.column,
        notNull: column.notNull || own.column.notNull,
        defaultSql: replaces ? own.column.defaultSql : column.defaultSql,
        inherited: column.inherited!,
        local: true,
        ...(column.details && { details: { ...column.details, ...own.column.details } }),
      },
    },
    conflict: replaces ? null : conflict,
  };
}

/** INTEGER PRIMARY KEY does not number what a default of the parent does. */
function withoutAssigned(draft: ColumnDraft): ColumnDraft {
  const { column } = draft;
  return column.sequence?.follows ? { ...draft, column: { ...column, identity: null, sequence: null } } : draft;
}

export interface MergedChecks {
  readonly checks: readonly NewCheck[];
  readonly notices: readonly string[];
}

/** CHECK constraints of the parents, then the table's own. Throws 42710 where two of one name differ. */
export function mergeChecks(parents: readonly TableDef[], own: readonly NewCheck[], table: string): MergedChecks {
  const notices: string[] = [];
  const merged = new Map<string, NewCheck>();
  for (const parent of parents) {
    for (const { name, sql, noInherit } of parent.checks) {
      if (noInherit) continue;
      const before = merged.get(name);
      if (before !== undefined && before.sql !== sql) {
        const message = `check constraint name "${name}" appears multiple times but with different expressions`;
        throw sqlError("42710", message);
      }
      merged.set(name, { name, sql, column: null, inherited: (before?.inherited ?? 0) + 1, local: false });
    }
  }
  const rest: NewCheck[] = [];
  for (const check of own) {
    const before = check.name === null ? undefined : merged.get(check.name);
    if (before === undefined) {
      rest.push(check);
      continue;
    }
    if (before.sql !== check.sql) {
      throw sqlError("42710", `constraint "${check.name}" for relation "${table}" already exists`);
    }
    if (check.noInherit) {
      throw sqlError("42P17", `constraint "${check.name}" conflicts with inherited constraint on relation "${table}"`);
    }
    notices.push(`merging constraint "${check.name}" with inherited definition`);
    // What a partition shares with its table is never its own.
    merged.set(check.name!, { ...before, local: parents[0]!.partitionKey === undefined });
  }
  return { checks: [...merged.values(), ...rest], notices };
}
