/**
 * CREATE, DROP, ALTER of triggers. A row trigger of a partitioned table has a counterpart in every partition
 * (TriggerDef.parentId). Called by ddl.ts and by the files that drop or attach relations with triggers.
 */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { RelationName, TriggerCommand } from "./ddl-command.js";
import { at, columnName, type DdlOutcome, existingColumn, NOTHING } from "./ddl-outcome.js";
import { childrenOf } from "./inheritance.js";
import type { TableDef } from "./table.js";
import type { TriggerDef } from "./trigger.js";
import type { ViewDef } from "./view.js";

type Owner = TableDef | ViewDef;

export function applyTriggerCommand(editor: CatalogEditor, command: TriggerCommand): DdlOutcome {
  const { relation } = command;
  if (command.kind === "drop trigger") return dropTrigger(editor, command);
  const owner = ownerOf(editor, relation);
  if (owner === null) throw sqlError("42P01", `relation "${relation.name}" does not exist`, at(relation.position));
  switch (command.kind) {
    case "create trigger":
      createTrigger(editor, owner, command.trigger, command.replace);
      return { ...NOTHING, tag: "CREATE TRIGGER" };
    case "rename trigger":
      renameTrigger(editor, owner, command.name, command.newName);
      return { ...NOTHING, tag: "ALTER TRIGGER" };
    case "comment on trigger": {
      const key = `trigger ${existingTrigger(owner, command.name).id}`;
      if (!isTable(owner)) return { ...NOTHING, tag: "COMMENT" };
      const { [key]: _, ...others } = owner.comments ?? {};
      const comments = command.comment === null ? others : { ...others, [key]: command.comment };
      editor.replaceTable(Object.freeze({ ...owner, comments }));
      return { ...NOTHING, tag: "COMMENT" };
    }
  }
}

function ownerOf(editor: CatalogEditor, { schema, name }: RelationName): Owner | null {
  return editor.view.table(schema, name) ?? editor.view.view(schema, name);
}

const isTable = (owner: Owner): owner is TableDef => "indexes" in owner;

function withTriggers(editor: CatalogEditor, owner: Owner, triggers: readonly TriggerDef[]): void {
  const ordered = [...triggers].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const { triggers: _, ...rest } = owner;
  const next = ordered.length === 0 ? rest : { ...rest, triggers: ordered };
  if (isTable(owner)) editor.replaceTable(Object.freeze(next as TableDef));
  else editor.putView(Object.freeze(next as ViewDef));
}

/** Throws 42704. */
function existingTrigger(owner: Owner, name: string): TriggerDef {
  const found = owner.triggers?.find((trigger) => trigger.name === name);
  if (found === undefined) throw sqlError("42704", `trigger "${name}" for table "${owner.name}" does not exist`);
  return found;
}

/** Throws 42710 when the relation has one of the name that is not to be replaced. */
function createTrigger(
  editor: CatalogEditor,
  owner: Owner,
  trigger: Omit<TriggerDef, "id" | "enabled">,
  replace: boolean,
): void {
  const { triggers = [] } = owner;
  const other = triggers.find(({ name }) => name === trigger.name);
  if (other !== undefined && (!replace || other.parentId !== trigger.parentId)) {
    if (replace && other.parentId !== undefined && trigger.parentId === undefined) {
      throw sqlError("42710", `trigger "${other.name}" for relation "${owner.name}" is an internal or a child trigger`);
    }
    throw sqlError("42710", `trigger "${trigger.name}" for relation "${owner.name}" already exists`);
  }
  if (other?.constraint !== undefined) {
    throw sqlError("42710", `trigger "${other.name}" for relation "${owner.name}" is a constraint trigger`);
  }
  const made: TriggerDef = Object.freeze({
    ...trigger,
    id: other?.id ?? editor.nextId(),
    enabled: other?.enabled ?? "origin",
  });
  withTriggers(editor, owner, [...triggers.filter(({ id }) => id !== made.id), made]);
  if (!isTable(owner) || owner.partitionKey === undefined || made.level !== "row") return;
  for (const child of childrenOf(owner, editor.view)) adoptTrigger(editor, owner, made, child.id, replace);
}

/** The trigger of a partitioned table in one of its partitions. */
function adoptTrigger(
  editor: CatalogEditor,
  parent: TableDef,
  trigger: TriggerDef,
  partitionId: number,
  replace = false,
): void {
  const child = editor.view.tableById(partitionId)!;
  const { columns, id, enabled, ...rest } = trigger;
  const ids = columns?.map((column) => existingColumn(child, columnName(parent, column)).id);
  createTrigger(editor, child, { ...rest, ...(ids !== undefined && { columns: ids }), parentId: id }, replace);
  if (enabled !== "origin") setState(editor, editor.view.tableById(partitionId)!, trigger.name, enabled);
}

/** The row triggers of a partitioned table, in a partition that joins it. */
export function adoptTriggers(editor: CatalogEditor, parent: TableDef, partitionId: number): void {
  const child = editor.view.tableById(partitionId)!;
  for (const trigger of parent.triggers ?? []) {
    if (trigger.level === "row") adoptTrigger(editor, parent, trigger, child.id);
  }
}

/** Removes the copies of the table's triggers from a partition and from its own partitions. */
export function disownTriggers(editor: CatalogEditor, partitionId: number): void {
  const table = editor.view.tableById(partitionId)!;
  for (const { id, parentId } of table.triggers ?? []) if (parentId !== undefined) remove(editor, table.id, id);
}

function dropTrigger(editor: CatalogEditor, command: Extract<TriggerCommand, { kind: "drop trigger" }>): DdlOutcome {
  const { relation, name, ifExists } = command;
  const tag = "DROP TRIGGER";
  const owner = ownerOf(editor, relation);
  if (owner === null) {
    const message = `relation "${relation.name}" does not exist`;
    if (ifExists) return { ...NOTHING, tag, notices: [`${message}, skipping`] };
    throw sqlError("42P01", message, at(relation.position));
  }
  const trigger = owner.triggers?.find((other) => other.name === name);
  if (trigger === undefined) {
    if (!ifExists) throw sqlError("42704", `trigger "${name}" for table "${owner.name}" does not exist`);
    return { ...NOTHING, tag, notices: [`trigger "${name}" for relation "${owner.name}" does not exist, skipping`] };
  }
  if (trigger.parentId !== undefined) {
    const parent = editor.view.tables().find(({ triggers }) => triggers?.some(({ id }) => id === trigger.parentId));
    const required = `trigger ${name} on table ${parent?.name}`;
    const message = `cannot drop trigger ${name} on table ${owner.name} because ${required} requires it`;
    throw sqlError("2BP01", message, { hint: `You can drop ${required} instead.` });
  }
  remove(editor, owner.id, trigger.id);
  return { ...NOTHING, tag };
}

/** Together with its copies in partitions. */
function remove(editor: CatalogEditor, ownerId: number, triggerId: number): void {
  const owner = editor.view.tableById(ownerId) ?? editor.view.views().find(({ id }) => id === ownerId)!;
  withTriggers(
    editor,
    owner,
    (owner.triggers ?? []).filter(({ id }) => id !== triggerId),
  );
  if (!isTable(owner) || owner.partitionKey === undefined) return;
  for (const child of childrenOf(owner, editor.view)) {
    for (const { id, parentId } of child.triggers ?? []) if (parentId === triggerId) remove(editor, child.id, id);
  }
}

function renameTrigger(editor: CatalogEditor, owner: Owner, name: string, newName: string): void {
  const trigger = existingTrigger(owner, name);
  if (trigger.parentId !== undefined) {
    throw sqlError("0A000", `cannot rename trigger "${name}" on table "${owner.name}"`, {
      hint: "Rename the trigger on the partitioned table instead.",
    });
  }
  renameIn(editor, owner, trigger, newName);
}

function renameIn(editor: CatalogEditor, owner: Owner, trigger: TriggerDef, newName: string): void {
  const { triggers = [] } = owner;
  if (triggers.some(({ name, id }) => name === newName && id !== trigger.id)) {
    throw sqlError("42710", `trigger "${newName}" for relation "${owner.name}" already exists`);
  }
  withTriggers(
    editor,
    owner,
    triggers.map((other) => (other.id === trigger.id ? Object.freeze({ ...other, name: newName }) : other)),
  );
  if (!isTable(owner) || owner.partitionKey === undefined) return;
  for (const child of childrenOf(owner, editor.view)) {
    const part = child.triggers?.find(({ parentId }) => parentId === trigger.id);
    if (part !== undefined) renameIn(editor, child, part, newName);
  }
}

/** ENABLE, DISABLE TRIGGER; `name` null: all. Partitions follow. Throws 42704. */
export function setState(
  editor: CatalogEditor,
  table: TableDef,
  name: string | null,
  enabled: TriggerDef["enabled"],
): void {
  if (name !== null) existingTrigger(table, name);
  const { triggers = [] } = table;
  if (triggers.length === 0) return;
  const isMeant = (trigger: TriggerDef) => name === null || trigger.name === name;
  withTriggers(
    editor,
    table,
    triggers.map((trigger) => (isMeant(trigger) ? Object.freeze({ ...trigger, enabled }) : trigger)),
  );
  if (table.partitionKey === undefined) return;
  const ids = new Set(triggers.filter(isMeant).map(({ id }) => id));
  for (const child of childrenOf(table, editor.view)) {
    for (const { parentId, name: part } of child.triggers ?? []) {
      if (parentId !== undefined && ids.has(parentId)) {
        setState(editor, editor.view.tableById(child.id)!, part, enabled);
      }
    }
  }
}

/** The triggers that call the function, with the relations that have them; without copies in partitions. */
export function triggersCalling(
  editor: CatalogEditor,
  { id }: { readonly id: number },
): { owner: Owner; trigger: TriggerDef }[] {
  return [...editor.view.tables(), ...editor.view.views()].flatMap((owner: Owner) =>
    (owner.triggers ?? [])
      .filter(({ calls, parentId }) => calls === id && parentId === undefined)
      .map((trigger) => ({ owner, trigger })),
  );
}

/** The triggers whose conditions call a function, in the same way. */
export function triggersAsking(
  { view }: CatalogEditor,
  calls: (sql: string | undefined) => boolean,
): ReturnType<typeof triggersCalling> {
  return [...view.tables(), ...view.views()].flatMap((owner: Owner) =>
    (owner.triggers ?? [])
      .filter(({ when, parentId }) => calls(when) && parentId === undefined)
      .map((trigger) => ({ owner, trigger })),
  );
}

/** Of a function that goes with CASCADE. */
export function dropTriggers(editor: CatalogEditor, triggers: ReturnType<typeof triggersCalling>): void {
  for (const { owner, trigger } of triggers) remove(editor, owner.id, trigger.id);
}

/** `trigger t on table u`, for messages about dependencies. */
export function describeTrigger({ owner, trigger }: { readonly owner: Owner; readonly trigger: TriggerDef }): string {
  return `trigger ${trigger.name} on ${isTable(owner) ? "table" : "view"} ${owner.name}`;
}

/** Triggers that name a column of their table: in UPDATE OF, or in WHEN. */
export function triggersReading(
  table: TableDef,
  columnId: number,
  reads: (sql: string) => boolean,
): readonly TriggerDef[] {
  return (table.triggers ?? []).filter(
    ({ columns, when }) => columns?.includes(columnId) === true || (when !== undefined && reads(when)),
  );
}

/** The table without them. */
export function withoutTriggers(table: TableDef, gone: readonly TriggerDef[]): TableDef {
  if (gone.length === 0) return table;
  const { triggers = [], ...rest } = table;
  const left = triggers.filter(({ id }) => !gone.some((other) => other.id === id));
  return Object.freeze(left.length === 0 ? rest : { ...rest, triggers: left });
}
