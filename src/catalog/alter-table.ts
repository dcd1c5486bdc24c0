/** ALTER TABLE, one action on one table. Called by alter-family.ts; constraints are in alter-constraint.ts. */
import { sqlError } from "../protocol/errors.js";
import type { SqlType } from "../values/values.js";
import { alterConstraint } from "./alter-constraint.js";
import type { CatalogEditor } from "./catalog-editor.js";
import { checkColumnCount } from "./column-count.js";
import type { AlterAction } from "./ddl-command.js";
import {
  type ActionOutcome,
  existingColumn,
  replaceColumn,
  satisfies,
  selectRows,
  withoutNulls,
  withoutPrimaryKey,
} from "./ddl-outcome.js";
import { dependentsOf } from "./dependent-views.js";
import { dropDependents } from "./drop-dependents.js";
import { withStatistics } from "./extended-statistics.js";
import { dropForeignKey, dropReferences, setReferencesChecked } from "./foreign-key-ddl.js";
import { verification } from "./foreign-key-verification.js";
import { detailsUnder, setDetail } from "./kept-details.js";
import { rareParts } from "./new-column.js";
import { attachPartition, detachPartition } from "./partition-ddl.js";
import { attachIndex } from "./partition-indexes.js";
import { checkNoPartitionKey } from "./partition-keys.js";
import { checkNoIdentity, setReplicaIdentity } from "./replica-identity.js";
import { setRuleState } from "./rule-ddl.js";
import { withoutSearchedColumns, withRetypedIndexes } from "./search-index-ddl.js";
import { PLAIN_SEQUENCE, type SequenceDef } from "./sequence.js";
import { changed, ownedSequence, sequenceDef } from "./sequence-ddl.js";
import { dependentsOf as numberedBy, withoutDefaults } from "./sequence-dependents.js";
import { type ColumnDef, EXPRESSION_COLUMN, type IndexDef, type TableDef } from "./table.js";
import { withAudit } from "./table-audit.js";
import { TableNames } from "./table-names.js";
import { setState, triggersReading, withoutTriggers } from "./trigger-ddl.js";

/** Not what links one table to another. */
export type TableAction = Exclude<AlterAction, { kind: "inherit" | "no inherit" | "of" }>;

type Action<K extends AlterAction["kind"]> = Extract<AlterAction, { kind: K }>;

/** One action on one table, whatever inherits from it. */
export function alterOne(
  editor: CatalogEditor,
  table: TableDef,
  action: TableAction,
  nowMicros: number,
): ActionOutcome {
  switch (action.kind) {
    case "add column":
      return addColumn(editor, table, action, nowMicros);
    case "drop column":
      return dropColumn(editor, table, action);
    case "set type":
      return setType(editor, table, action);
    case "set default":
      editor.replaceTable(replaceColumn(table, defaultable(table, action.name).id, { defaultSql: action.defaultSql }));
      return {};
    case "set not null":
      return setNotNull(editor, table, action.name);
    case "drop not null":
      return dropNotNull(editor, table, action.name);
    case "drop expression":
      return dropExpression(editor, table, action);
    case "add identity":
    case "set identity":
    case "drop identity":
      return alterIdentity(editor, table, action, nowMicros);
    case "attach partition":
      return attachPartition(editor, table, action);
    case "detach partition":
      return detachPartition(editor, table, action);
    case "set trigger":
      setState(editor, table, action.name, action.enabled);
      if (action.isAll) setReferencesChecked(editor, table.id, action.enabled === "origin");
      return {};
    case "set rule":
      setRuleState(editor, table, action.name, action.enabled);
      return {};
    case "set audit":
      editor.replaceTable(withAudit(table, action.uses));
      return {};
    case "set storage": {
      const { storage: _, ...others } = table;
      editor.replaceTable(Object.freeze(action.storage.length === 0 ? others : { ...others, storage: action.storage }));
      return {};
    }
    case "set detail":
      return setDetail(editor, table, action);
    case "replica identity":
      return setReplicaIdentity(editor, table, action.identity);
    case "attach index":
      return attachIndex(editor, table, action);
    default:
      return alterConstraint(editor, table, action);
  }
}

function addColumn(
  editor: CatalogEditor,
  table: TableDef,
  action: Action<"add column">,
  nowMicros: number,
): ActionOutcome {
  const { column } = action;
  const { schema } = table;
  if (table.columns.some((other) => other.name === column.name)) {
    const message = `column "${column.name}" of relation "${table.name}" already exists`;
    if (!action.ifNotExists) throw sqlError("42701", message);
    return { notices: [`${message}, skipping`] };
  }
  checkColumnCount(table.columns.length + 1);
  const id = table.nextColumnId;
  let { defaultSql } = column;
  let { refill } = action;
  let sequence: SequenceDef | null = null;
  if (column.sequence !== null) {
    const name = new TableNames(editor, schema, table.name).relation(null, [column.name], "seq");
    const owner = { tableId: table.id, columnId: id };
    sequence = sequenceDef(editor.nextId(), schema, name, column.type, column.sequence, owner, nowMicros);
    defaultSql = ownedSequence(sequence);
    refill = defaultSql;
  }
  const { name, type, notNull, identity } = column;
  const plain: ColumnDef = { id, name, type, notNull, defaultSql, missingSql: action.missing, identity };
  const added = Object.freeze({ ...plain, ...rareParts(column) });
  const after: TableDef = Object.freeze({ ...table, columns: [...table.columns, added], nextColumnId: id + 1 });
  editor.replaceTable(after);
  if (sequence !== null) editor.createSequence(sequence);
  const select = refill === null ? null : selectRows(after, new Map([[id, refill]]));
  return {
    rewrites: select === null ? [] : [{ before: table, after, select }],
    verify: notNull && refill === null && action.missing === null ? [withoutNulls(after, added)] : [],
  };
}

/** Whether the index has the column as a key, carries it, or reads it in an expression. */
function involves(index: IndexDef, columnId: number, reads: (sql: string) => boolean): boolean {
  return (
    index.columns.some(
      ({ expression, ...key }) => key.columnId === columnId || (expression && reads(expression.sql)),
    ) ||
    (index.include?.includes(columnId) ?? false) ||
    (index.where ? reads(index.where) : false)
  );
}

function dropColumn(editor: CatalogEditor, table: TableDef, action: Action<"drop column">): ActionOutcome {
  const { name, cascade, reads } = action;
  if (action.ifExists && !table.columns.some((other) => other.name === name)) {
    return { notices: [`column "${name}" of relation "${table.name}" does not exist, skipping`] };
  }
  const column = existingColumn(table, name);
  checkNoPartitionKey(table, column.id, reads, "drop");
  const what = `column ${name} of table ${table.name}`;
  const notices: string[] = [];
  const generated = table.columns.filter((other) => other.generatedSql && reads(other.generatedSql));
  const triggers = triggersReading(table, column.id, reads);
  const users = [
    ...generated.map((other) => `column ${other.name} of table ${table.name}`),
    ...triggers.map((trigger) => `trigger ${trigger.name} on table ${table.name}`),
  ];
  if (users.length > 0 && !cascade) {
    throw sqlError("2BP01", `cannot drop ${what} because other objects depend on it`, {
      detail: users.map((user) => `${user} depends on ${what}`).join("\n"),
      hint: "Use DROP ... CASCADE to drop the dependent objects too.",
    });
  }
  notices.push(...users.map((user) => `drop cascades to ${user}`));
  const views = dropDependents(editor, new Map([[table.id, what]]), cascade, column.id);
  notices.push(...views.notices);
  const gone = new Set([column.id, ...generated.map((other) => other.id)]);
  const isGone = (id: number) => gone.has(id);
  const dropped = table.indexes.filter((index) => [...gone].some((id) => involves(index, id, reads)));
  const keyGone = [...(table.primaryKey ?? []), ...(table.primaryKeyInclude ?? [])].some(isGone);
  const references = (table.referencedBy ?? []).filter((reference) => reference.columns.some(isGone));
  const others = references.filter((reference) => reference.tableId !== table.id);
  notices.push(...dropReferences(editor, what, table, others, cascade));
  for (const key of table.foreignKeys ?? []) {
    const own = key.columns.some(isGone) || (key.tableId === table.id && key.references.some(isGone));
    if (own) dropForeignKey(editor, table, key);
  }
  for (const sequence of editor.view.sequencesOf(table)) {
    if (isGone(sequence.ownedBy!.columnId)) dropOwnedSequence(editor, table, gone, sequence, what, cascade);
  }
  const now = withoutTriggers(editor.view.tableById(table.id)!, triggers);
  const left = now.extendedStatistics?.filter(({ columnIds }) => !columnIds.some(isGone)) ?? [];
  const after: TableDef = Object.freeze({
    ...withStatistics(withoutSearchedColumns(keyGone ? withoutPrimaryKey(now) : now, isGone), left),
    columns: now.columns.filter((other) => !isGone(other.id)),
    indexes: now.indexes.filter((index) => !dropped.includes(index)),
    checks: now.checks.filter((check) => !reads(check.sql)),
  });
  editor.replaceTable(after);
  if (keyGone) return { ...views, notices, rewrites: [{ before: table, after, select: selectRows(after) }] };
  const clearedIndexes = [...dropped.map((index) => ({ table, index })), ...views.clearedIndexes];
  return { notices, cleared: views.cleared, clearedIndexes };
}

/** The sequence of a column that goes. Throws 2BP01 when other columns are numbered by it, unless CASCADE. */
function dropOwnedSequence(
  editor: CatalogEditor,
  table: TableDef,
  gone: ReadonlySet<number>,
  sequence: SequenceDef,
  what: string,
  cascade: boolean,
): void {
  const others = numberedBy(sequence, editor.view).filter(
    (other) => other.table.id !== table.id || !gone.has(other.column.id),
  );
  if (others.length > 0 && !cascade) {
    const texts = others.map((other) => `default value for column ${other.column.name} of table ${other.table.name}`);
    throw sqlError("2BP01", `cannot drop ${what} because other objects depend on it`, {
      detail: texts.map((text) => `${text} depends on sequence ${sequence.name}`).join("\n"),
      hint: "Use DROP ... CASCADE to drop the dependent objects too.",
    });
  }
  for (const id of new Set(others.map((other) => other.table.id))) {
    editor.replaceTable(withoutDefaults(editor.view.tableById(id)!, sequence));
  }
  editor.dropSequence(sequence);
}

function setType(editor: CatalogEditor, table: TableDef, action: Action<"set type">): ActionOutcome {
  const { name, type, collation, defaultSql, reads } = action;
  const column = existingColumn(table, name);
  checkNoPartitionKey(table, column.id, reads, "alter");
  const dependent = table.columns.find((other) => other.generatedSql && reads(other.generatedSql));
  if (dependent !== undefined) {
    throw sqlError("0A000", "cannot alter type of a column used by a generated column", {
      detail: `Column "${name}" is used by generated column "${dependent.name}".`,
    });
  }
  const isExpression = (index: IndexDef) =>
    index.columns.some(({ columnId }) => columnId === EXPRESSION_COLUMN) && involves(index, column.id, reads);
  if (table.indexes.some(isExpression)) {
    throw sqlError("0A000", "cannot alter type of a column used by an index expression; drop the index first");
  }
  const [trigger] = triggersReading(table, column.id, reads);
  if (trigger !== undefined) {
    throw sqlError("0A000", "cannot alter type of a column used in a trigger definition", {
      detail: `trigger ${trigger.name} on table ${table.name} depends on column "${name}"`,
    });
  }
  const [view] = dependentsOf(editor.view, table.id, column.id);
  if (view !== undefined) {
    const by = "parameters" in view.definition ? "function or procedure" : "view or rule";
    throw sqlError("0A000", `cannot alter type of a column used by a ${by}`, {
      detail: `${view.kind} ${view.definition.name} depends on column "${name}"`,
    });
  }
  if (column.identity !== null) setSequenceType(editor, table, column, type);
  const retyped = withRetypedIndexes(editor, table, column, type);
  const after = replaceColumn(retyped, column.id, {
    type,
    defaultSql,
    missingSql: null,
    details: detailsUnder(column.details, collation),
  });
  editor.replaceTable(after);
  const checks = table.checks.filter((check) => reads(check.sql)).map((check) => satisfies(after, check));
  const references = [...editor.view.tables()].flatMap((owner) =>
    (owner.foreignKeys ?? [])
      .filter(
        (key) =>
          (owner.id === table.id && key.columns.includes(column.id)) ||
          (key.tableId === table.id && key.references.includes(column.id)),
      )
      .map((key) => verification(owner, editor.view.tableById(key.tableId)!, key)),
  );
  const verify = [...checks, ...references];
  return action.rewrites ? { rewrites: [{ before: table, after, select: null }], verify } : { verify };
}

/** The sequence of an identity column has the column's type, so that it ends where that does. Throws 22023. */
function setSequenceType(editor: CatalogEditor, table: TableDef, column: ColumnDef, type: SqlType): void {
  if (!["int2", "int4", "int8"].includes(type.name)) {
    throw sqlError("22023", "identity column type must be smallint, integer, or bigint");
  }
  const sequence = editor.view.sequencesOf(table).find(({ ownedBy }) => ownedBy!.columnId === column.id)!;
  editor.replaceSequence(changed(sequence, { ...PLAIN_SEQUENCE, type }, 0));
}

/** A column that may have a default of its own. Throws 42601. */
function defaultable(table: TableDef, name: string): ColumnDef {
  const column = existingColumn(table, name);
  const relation = `column "${name}" of relation "${table.name}"`;
  if (column.identity !== null) {
    throw sqlError("42601", `${relation} is an identity column`, {
      hint: "Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead.",
    });
  }
  if (column.generatedSql) throw sqlError("42601", `${relation} is a generated column`);
  return column;
}

function setNotNull(editor: CatalogEditor, table: TableDef, name: string): ActionOutcome {
  const column = existingColumn(table, name);
  if (column.notNull) return {};
  const after = replaceColumn(table, column.id, { notNull: true });
  editor.replaceTable(after);
  return { verify: [withoutNulls(after, column)] };
}

function dropNotNull(editor: CatalogEditor, table: TableDef, name: string): ActionOutcome {
  const column = existingColumn(table, name);
  if (column.identity !== null) {
    throw sqlError("42601", `column "${name}" of relation "${table.name}" is an identity column`);
  }
  if (table.primaryKey?.includes(column.id)) throw sqlError("42P16", `column "${name}" is in a primary key`);
  checkNoIdentity(table, column.id, name);
  editor.replaceTable(replaceColumn(table, column.id, { notNull: false }));
  return {};
}

function dropExpression(editor: CatalogEditor, table: TableDef, action: Action<"drop expression">): ActionOutcome {
  const column = existingColumn(table, action.name);
  if (!column.generatedSql) {
    const message = `column "${column.name}" of relation "${table.name}" is not a stored generated column`;
    if (!action.ifExists) throw sqlError("55000", message);
    return { notices: [`${message}, skipping`] };
  }
  editor.replaceTable(replaceColumn(table, column.id, { generatedSql: null }));
  return {};
}

function alterIdentity(
  editor: CatalogEditor,
  table: TableDef,
  action: Action<"add identity" | "set identity" | "drop identity">,
  nowMicros: number,
): ActionOutcome {
  const column = existingColumn(table, action.name);
  const relation = `column "${column.name}" of relation "${table.name}"`;
  if (action.kind === "add identity") {
    if (column.identity !== null) throw sqlError("55000", `${relation} is already an identity column`);
    if (column.defaultSql !== null) throw sqlError("55000", `${relation} already has a default value`);
    if (!column.notNull) throw sqlError("55000", `${relation} must be declared NOT NULL before identity can be added`);
    const name = new TableNames(editor, table.schema, table.name).relation(null, [column.name], "seq");
    const owner = { tableId: table.id, columnId: column.id };
    const sequence = sequenceDef(editor.nextId(), table.schema, name, column.type, action.sequence, owner, nowMicros);
    editor.createSequence(sequence);
    const change = { identity: action.identity, defaultSql: ownedSequence(sequence) };
    editor.replaceTable(replaceColumn(table, column.id, change));
    return {};
  }
  if (column.identity === null) {
    const message = `${relation} is not an identity column`;
    if (action.kind === "drop identity" && action.ifExists) return { notices: [`${message}, skipping`] };
    throw sqlError("55000", message);
  }
  const sequence = editor.view.sequencesOf(table).find(({ ownedBy }) => ownedBy!.columnId === column.id)!;
  if (action.kind === "drop identity") {
    editor.dropSequence(sequence);
    editor.replaceTable(replaceColumn(table, column.id, { identity: null, defaultSql: null }));
    return {};
  }
  if (action.identity !== null) editor.replaceTable(replaceColumn(table, column.id, { identity: action.identity }));
  editor.replaceSequence(changed(sequence, action.options, nowMicros));
  return {};
}
