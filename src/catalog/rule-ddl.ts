/**
 * CREATE, DROP, ALTER RULE: rules are kept with their table or view as triggers of their own kind. Called by ddl.ts.
 */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { RelationName, RuleCommand } from "./ddl-command.js";
import { at, type DdlOutcome, NOTHING } from "./ddl-outcome.js";
import type { RuleOf } from "./dependent-views.js";
import type { TableDef } from "./table.js";
import type { TriggerDef } from "./trigger.js";
import type { ViewDef } from "./view.js";

type Owner = TableDef | ViewDef;

export function applyRuleCommand(editor: CatalogEditor, command: RuleCommand): DdlOutcome {
  const { relation } = command;
  const owner = ownerOf(editor, relation);
  if (owner === null) {
    const message = `relation "${relation.name}" does not exist`;
    if (command.kind === "drop rule" && command.ifExists) {
      return { ...NOTHING, tag: "DROP RULE", notices: [`${message}, skipping`] };
    }
    throw sqlError("42P01", message, at(relation.position));
  }
  const { rules = [] } = owner;
  switch (command.kind) {
    case "create rule": {
      const other = rules.find(({ name }) => name === command.rule.name);
      if (other !== undefined && !command.replace) throw exists(command.rule.name, owner);
      const id = other?.id ?? editor.nextId();
      const made: TriggerDef = Object.freeze({ ...command.rule, id, enabled: "origin" });
      put(editor, owner, [...rules.filter((rule) => rule !== other), made]);
      return { ...NOTHING, tag: "CREATE RULE" };
    }
    case "drop rule": {
      const { name } = command;
      if (rules.some((rule) => rule.name === name)) {
        put(
          editor,
          owner,
          rules.filter((rule) => rule.name !== name),
        );
        return { ...NOTHING, tag: "DROP RULE" };
      }
      const message = `rule "${name}" for relation "${owner.name}" does not exist`;
      if (command.ifExists) return { ...NOTHING, tag: "DROP RULE", notices: [`${message}, skipping`] };
      throw sqlError("42704", message);
    }
    case "rename rule": {
      const { name, newName } = command;
      const rule = rules.find((each) => each.name === name);
      if (rule === undefined) throw missing(name, owner);
      if (rules.some((each) => each.name === newName)) throw exists(newName, owner);
      put(editor, owner, [...rules.filter((each) => each !== rule), Object.freeze({ ...rule, name: newName })]);
      return { ...NOTHING, tag: "ALTER RULE" };
    }
  }
}

/** ENABLE, DISABLE RULE. Throws 42704. */
export function setRuleState(editor: CatalogEditor, owner: Owner, name: string, enabled: TriggerDef["enabled"]): void {
  const { rules = [] } = owner;
  if (!rules.some((rule) => rule.name === name)) throw missing(name, owner);
  put(
    editor,
    owner,
    rules.map((rule) => (rule.name === name ? Object.freeze({ ...rule, enabled }) : rule)),
  );
}

const missing = (name: string, owner: Owner) =>
  sqlError("42704", `rule "${name}" for relation "${owner.name}" does not exist`);

const exists = (name: string, owner: Owner) =>
  sqlError("42710", `rule "${name}" for relation "${owner.name}" already exists`);

function ownerOf(editor: CatalogEditor, { schema, name }: RelationName): Owner | null {
  return editor.view.table(schema, name) ?? editor.view.view(schema, name);
}

/** Of something that goes with CASCADE. */
export function removeRule(editor: CatalogEditor, { id, ownerId }: RuleOf): void {
  const owner: Owner | undefined =
    editor.view.tableById(ownerId) ?? editor.view.views().find((view) => view.id === ownerId);
  if (owner === undefined) return;
  put(
    editor,
    owner,
    (owner.rules ?? []).filter((rule) => rule.id !== id),
  );
}

/** In the order of their names. */
function put(editor: CatalogEditor, owner: Owner, rules: readonly TriggerDef[]): void {
  const ordered = [...rules].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const { rules: _, ...rest } = owner;
  const next = Object.freeze(ordered.length === 0 ? rest : { ...rest, rules: ordered });
  if ("indexes" in owner) editor.replaceTable(next as TableDef);
  else editor.putView(next as ViewDef);
}
