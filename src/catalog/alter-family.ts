/**
 * ALTER TABLE over a table and the tables that inherit from it: what an action means for the descendants, and what it
 * may not change of what a table has from its parents. alter-table.ts does the work on each table. Called by ddl.ts.
 *
 * The rules are PostgreSQL's (src/backend/commands/tablecmds.c): ATSimpleRecursion where every table of the family is
 * treated alike, and one step from parent to child at a time where a child may have the same column or constraint from
 * elsewhere.
 */
import { type DbError, sqlError } from "../protocol/errors.js";
import { alterOne, type TableAction } from "./alter-table.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { AlterAction, AlterTableCommand } from "./ddl-command.js";
import { type ActionOutcome, combined, type DdlOutcome, existingTable, NOTHING, replaceColumn } from "./ddl-outcome.js";
import { childrenOf, descendantsOf, parentsAmong, sameType, withoutParent, withParent } from "./inheritance.js";
import { inherit, noInherit } from "./link-tables.js";
import { replaceIndex, spreadIndex, spreadPrimaryKey } from "./partition-indexes.js";
import type { CheckDef, TableDef } from "./table.js";
import { usesType } from "./type.js";
import { setTypeOf } from "./typed-table.js";

type Action<K extends AlterAction["kind"]> = AlterAction & { readonly kind: K };

export function alterTable(editor: CatalogEditor, command: AlterTableCommand, nowMicros: number): DdlOutcome {
  const table = existingTable(editor, command.table);
  const done = new FamilyChange(editor, command.only ?? false, nowMicros).alter(table, command.action);
  const immutable = done.rewrites?.find(({ before }) => before.immutable);
  if (immutable !== undefined) {
    throw sqlError("0A000", `cannot rewrite the rows of immutable table "${immutable.before.name}"`);
  }
  return { ...NOTHING, ...done, tag: "ALTER TABLE" };
}

/** What the type of a typed table decides. */
const OF_TYPED: Partial<Record<AlterAction["kind"], string>> = {
  "add column": "add column to",
  "drop column": "drop column from",
  "set type": "alter column type of",
  inherit: "change inheritance of",
};

const refused = (message: string): DbError => sqlError("42P16", message);

class FamilyChange {
  constructor(
    private readonly editor: CatalogEditor,
    /** The statement says ONLY. */
    private readonly only: boolean,
    private readonly nowMicros: number,
  ) {}

  alter(table: TableDef, action: AlterAction): ActionOutcome {
    const typed = table.ofType === undefined ? undefined : OF_TYPED[action.kind];
    if (typed !== undefined) throw sqlError("42809", `cannot ${typed} typed table`);
    this.checkRowType(table, action);
    switch (action.kind) {
      case "add column":
        return this.addColumn(table, action, false);
      case "drop column":
        return this.dropColumn(table, action, false);
      case "set type":
        this.checkType(table, action);
        return this.one(table, action);
      case "set default":
        return this.everywhere(table, action);
      case "set not null":
        if (this.only && table.partitionKey !== undefined && this.childrenOf(table).length > 0) {
          throw refused("constraint must be added to child tables too");
        }
        return this.everywhere(table, action);
      case "set detail":
        return action.what === "column" ? this.everywhere(table, action) : this.one(table, action);
      case "set audit":
        return this.setAudit(table, action);
      case "drop not null":
        return this.dropNotNull(table, action);
      case "drop expression":
        return this.dropExpression(table, action);
      case "add check":
        return this.addCheck(table, action, false);
      case "drop constraint":
        return this.dropConstraint(table, action, false);
      case "validate constraint":
        return this.validate(table, action);
      case "add key":
        return this.addKey(table, action);
      case "add foreign key":
        this.checkForeignKey(table, action);
        return this.one(table, action);
      case "inherit":
      case "no inherit":
        this.link(table, action);
        return {};
      case "of":
        setTypeOf(this.editor, table, action.type);
        return {};
      default:
        return this.one(table, action);
    }
  }

  /** Rows that are stored in columns of other tables are not rewritten. */
  private checkRowType(table: TableDef, action: AlterAction): void {
    const isAdded = action.kind === "add column";
    if (!isAdded && action.kind !== "set type" && action.kind !== "drop column") return;
    const row = this.editor.rowType(table.id);
    if (row === null) return;
    const exists = isAdded && table.columns.some(({ name }) => name === action.column.name);
    const changes = isAdded
      ? !exists && (action.missing !== null || action.refill !== null)
      : action.kind === "set type";
    for (const other of this.editor.view.tables()) {
      const keys = [
        ...(other.primaryKey ?? []),
        ...other.indexes.flatMap((index) => index.columns.map((key) => key.columnId)),
      ];
      const column = other.columns.find(({ id, type }) => (changes || keys.includes(id)) && usesType(type, row.id));
      if (column === undefined) continue;
      const message = `cannot alter table "${table.name}" because column "${other.name}.${column.name}" uses its row type`;
      throw sqlError("0A000", message);
    }
  }

  private one(table: TableDef, action: TableAction): ActionOutcome {
    return alterOne(this.editor, this.now(table), action, this.nowMicros);
  }

  private now(table: TableDef): TableDef {
    return this.editor.view.tableById(table.id)!;
  }

  private childrenOf(table: TableDef): readonly TableDef[] {
    return childrenOf(this.now(table), this.editor.view);
  }

  /** On the table and, unless it says ONLY, on every descendant. */
  private everywhere(table: TableDef, action: TableAction): ActionOutcome {
    const others = this.only ? [] : descendantsOf(table, this.editor.view);
    return combined([table, ...others].map((member) => this.one(member, action)));
  }

  // ---- columns ----

  private addColumn(table: TableDef, action: Action<"add column">, following: boolean): ActionOutcome {
    const { column } = action;
    const { name } = column;
    if (table.partitionBound !== undefined && !following) throw sqlError("42809", "cannot add column to a partition");
    const known = table.columns.find((other) => other.name === name);
    if (known !== undefined && following) {
      if (!sameType(known.type, column.type)) {
        throw sqlError("42804", `child table "${table.name}" has different type for column "${name}"`);
      }
      this.editor.replaceTable(replaceColumn(table, known.id, withParent(known)));
      return { notices: [`merging definition of column "${name}" for child "${table.name}"`] };
    }
    const children = this.childrenOf(table);
    if (known === undefined && children.length > 0) {
      if (this.only) throw refused("column must be added to child tables too");
      if (column.identity !== null) {
        throw refused("cannot recursively add identity column to table that has child tables");
      }
    }
    const own = this.one(table, action);
    const added = this.now(table).columns.find((other) => other.name === name)!;
    if (known !== undefined) return own;
    // Children take their values from the parent's sequence.
    const refill = action.refill ?? (column.sequence === null ? null : added.defaultSql);
    const inherited = { ...column, sequence: null, defaultSql: added.defaultSql, inherited: 1, local: false };
    const next: Action<"add column"> = { ...action, column: inherited, refill };
    return combined([own, ...children.map((child) => this.addColumn(this.now(child), next, true))]);
  }

  private dropColumn(table: TableDef, action: Action<"drop column">, following: boolean): ActionOutcome {
    const { name } = action;
    const column = table.columns.find((other) => other.name === name);
    if (column?.inherited && !following) throw refused(`cannot drop inherited column "${name}"`);
    const children = this.childrenOf(table);
    if (column !== undefined && this.only && table.partitionKey !== undefined && children.length > 0) {
      throw refused("cannot drop column from only the partitioned table when partitions exist");
    }
    if (column === undefined) return this.one(table, action);
    // First the children, whose defaults may need the column's sequence.
    const others = children.map((child): ActionOutcome => {
      const below = this.now(child);
      const of = below.columns.find((other) => other.name === name);
      if (of === undefined) return {};
      const isLast = of.inherited === 1;
      if (!this.only && isLast && of.local === false) return this.dropColumn(below, action, true);
      const { inherited } = withoutParent(of);
      this.editor.replaceTable(
        replaceColumn(below, of.id, { inherited: inherited!, ...(this.only && { local: true }) }),
      );
      return {};
    });
    return combined([...others, this.one(table, action)]);
  }

  /** Each table of the family has an action of its own; this is about what none of them may do. */
  private checkType(table: TableDef, action: Action<"set type">): void {
    const { name, following } = action;
    const column = table.columns.find((other) => other.name === name);
    if (column === undefined) return;
    if (following === null) {
      if (column.inherited) throw refused(`cannot alter inherited column "${name}"`);
      if (this.only && this.childrenOf(table).length > 0) {
        throw refused(`type of inherited column "${name}" must be changed in child tables too`);
      }
      return;
    }
    const root = this.editor.view.tableById(following)!;
    const family = [root, ...descendantsOf(root, this.editor.view)];
    if ((column.inherited ?? 0) > parentsAmong(table, family)) {
      throw refused(`cannot alter inherited column "${name}" of relation "${table.name}"`);
    }
  }

  /** Statements name the partitioned table or a partition: both are audited, or neither. */
  private setAudit(table: TableDef, action: Action<"set audit">): ActionOutcome {
    if (table.partitionBound !== undefined) {
      throw sqlError("42809", `"${table.name}" is a partition`, { hint: "Set audit on the partitioned table." });
    }
    if (this.only && this.childrenOf(table).length > 0) throw refused("audit must be set on child tables too");
    return this.everywhere(table, action);
  }

  private dropNotNull(table: TableDef, action: Action<"set not null" | "drop not null">): ActionOutcome {
    if (this.only && table.partitionKey !== undefined && this.childrenOf(table).length > 0) {
      throw refused("cannot remove constraint from only the partitioned table when partitions exist");
    }
    const parent = table.partitionBound === undefined ? null : this.editor.view.tableById(table.parents![0]!);
    if (parent?.columns.some(({ name, notNull }) => name === action.name && notNull)) {
      throw refused(`column "${action.name}" is marked NOT NULL in parent table`);
    }
    return this.everywhere(table, action);
  }

  private dropExpression(table: TableDef, action: Action<"drop expression">): ActionOutcome {
    if (this.only && this.childrenOf(table).length > 0) {
      throw refused("ALTER TABLE / DROP EXPRESSION must be applied to child tables too");
    }
    if (table.columns.find((column) => column.name === action.name)?.inherited) {
      throw refused("cannot drop generation expression from inherited column");
    }
    return this.everywhere(table, action);
  }

  // ---- constraints ----

  private addCheck(table: TableDef, action: Action<"add check">, following: boolean): ActionOutcome {
    const { check } = action;
    const known = following ? table.checks.find(({ name }) => name === check.name) : undefined;
    if (known !== undefined) return this.mergeCheck(table, known, action);
    const children = check.noInherit ? [] : this.childrenOf(table);
    if (this.only && children.length > 0) throw refused("constraint must be added to child tables too");
    if (check.noInherit && table.partitionKey !== undefined) {
      throw refused(`cannot add NO INHERIT constraint to partitioned table "${table.name}"`);
    }
    const own = this.one(table, action);
    const { name } = this.now(table).checks.at(-1)!;
    const next: Action<"add check"> = { ...action, check: { ...check, name, inherited: 1, local: false } };
    return combined([own, ...children.map((child) => this.addCheck(this.now(child), next, true))]);
  }

  /** The child has a constraint of that name; descendants have it from there. */
  private mergeCheck(table: TableDef, known: CheckDef, { check }: Action<"add check">): ActionOutcome {
    const { name } = known;
    if (known.sql !== check.sql) {
      throw sqlError("42710", `constraint "${name}" for relation "${table.name}" already exists`);
    }
    const conflict = known.noInherit ? "non-inherited" : known.notValid && !check.notValid ? "NOT VALID" : null;
    if (conflict !== null) {
      throw sqlError("42P17", `constraint "${name}" conflicts with ${conflict} constraint on relation "${table.name}"`);
    }
    const merged = withParent(known);
    this.replaceCheck(table, known, table.partitionBound === undefined ? merged : { ...merged, local: false });
    return { notices: [`merging constraint "${name}" with inherited definition`] };
  }

  private replaceCheck(table: TableDef, before: CheckDef, after: CheckDef): void {
    const checks = table.checks.map((check) => (check === before ? after : check));
    this.editor.replaceTable(Object.freeze({ ...table, checks }));
  }

  private dropConstraint(table: TableDef, action: Action<"drop constraint">, following: boolean): ActionOutcome {
    const { name } = action;
    const check = table.checks.find((other) => other.name === name);
    if (check?.inherited && !following) {
      throw refused(`cannot drop inherited constraint "${name}" of relation "${table.name}"`);
    }
    const children = check === undefined || check.noInherit ? [] : this.childrenOf(table);
    if (this.only && table.partitionKey !== undefined && children.length > 0) {
      throw refused("cannot remove constraint from only the partitioned table when partitions exist");
    }
    const own = this.one(table, action);
    const others = children.map((child): ActionOutcome => {
      const below = this.now(child);
      const of = below.checks.find((other) => other.name === name);
      if (of === undefined) return {};
      if (!this.only && of.inherited === 1 && of.local === false) return this.dropConstraint(below, action, true);
      const { inherited } = withoutParent(of);
      this.replaceCheck(below, of, Object.freeze({ ...of, inherited: inherited!, ...(this.only && { local: true }) }));
      return {};
    });
    return combined([own, ...others]);
  }

  /** Partitions have the keys of their table; with ONLY, theirs are attached later. */
  private addKey(table: TableDef, action: Action<"add key">): ActionOutcome {
    const partitions = table.partitionKey === undefined ? [] : this.childrenOf(table);
    if (this.only && action.primary) {
      const isNullable = (name: string, { columns }: TableDef) =>
        !columns.find((column) => column.name === name)!.notNull;
      if (action.key.columns.some((name) => partitions.some((partition) => isNullable(name, partition)))) {
        throw refused("constraint must be added to child tables too");
      }
    }
    const own = this.one(table, action);
    if (partitions.length === 0) return own;
    const now = this.now(table);
    const index = now.primaryKey === table.primaryKey ? now.indexes.at(-1)! : null;
    if (!this.only) {
      return combined([
        own,
        index === null ? spreadPrimaryKey(this.editor, now) : spreadIndex(this.editor, now, index),
      ]);
    }
    if (index === null) this.editor.replaceTable(Object.freeze({ ...now, primaryKeyInvalid: true }));
    else replaceIndex(this.editor, now, { ...index, invalid: true });
    return own;
  }

  /** Of a partitioned table it is one of all partitions, and checked. */
  private checkForeignKey(table: TableDef, { foreignKey }: Action<"add foreign key">): void {
    if (table.partitionKey === undefined) return;
    const what = this.only ? "use ONLY for" : foreignKey.notValid ? "add NOT VALID" : null;
    if (what === null) return;
    const target = foreignKey.table?.name ?? table.name;
    const message = `cannot ${what} foreign key on partitioned table "${table.name}" referencing relation "${target}"`;
    throw sqlError("42809", message);
  }

  private validate(table: TableDef, action: Action<"validate constraint">): ActionOutcome {
    const check = table.checks.find(({ name }) => name === action.name);
    if (check === undefined || !check.notValid || check.noInherit) return this.one(table, action);
    if (this.only && this.childrenOf(table).length > 0) {
      throw refused("constraint must be validated on child tables too");
    }
    return this.everywhere(table, action);
  }

  private link(table: TableDef, action: Action<"inherit" | "no inherit">): void {
    const parent = existingTable(this.editor, action.parent);
    if (action.kind === "inherit") inherit(this.editor, table, parent);
    else noInherit(this.editor, table, parent);
  }
}
