/** DROP OWNED BY: what roles own goes, and so do their privileges on what others own. Called by access-ddl.ts. */
import { sqlError } from "../protocol/errors.js";
import type { OwnedDrop } from "./access-command.js";
import type { CatalogEditor } from "./catalog-editor.js";
import { applyNamespaceCommand, tableKind } from "./ddl-namespace.js";
import { type ActionOutcome, combined } from "./ddl-outcome.js";
import { dropDependents, dropFunctions } from "./drop-dependents.js";
import { dropTables } from "./drop-tables.js";
import { withoutRole } from "./grants.js";
import { graphDefOf } from "./graph.js";
import { applyGraphCommand } from "./graph-ddl.js";
import { quotedIdentifier } from "./relation-names.js";
import { isRowType } from "./type.js";

/** Who may act for the roles may drop what they own, and what others have made of that, as in PostgreSQL. */
export function dropOwned(editor: CatalogEditor, command: OwnedDrop, nowMicros: number): ActionOutcome {
  const objects = ownedBy(editor, command.roles);
  const outcome = dropAll(editor, objects, command.cascade, nowMicros);
  const isInside = insideOf(objects);
  const outside = (outcome.notices ?? []).filter((notice) => !isInside(notice));
  if (!command.cascade && outside.length > 0) throw needed(outside.map((notice) => notice.replace(CASCADES, "")));
  for (const access of editor.view.accesses()) {
    const left = command.roles.reduce((before, role) => withoutRole(before, role, command.mayRevoke(access)), access);
    editor.putAccess(left);
  }
  return { ...outcome, notices: outside };
}

const CASCADES = /^drop cascades to /;

function ownedBy({ view }: CatalogEditor, roles: readonly number[]) {
  const isOwned = ({ id }: { readonly id: number }): boolean => roles.includes(view.accessTo(id)?.owner ?? 0);
  const tables = view.tables().filter(isOwned);
  return {
    graphs: tables.flatMap((table) => graphDefOf(table)?.graph ?? []),
    tables: tables.filter((table) => graphDefOf(table) === null),
    views: view.views().filter(isOwned),
    propertyGraphs: view.propertyGraphs().filter(isOwned),
    functions: view.functions().filter(isOwned),
    types: view.types().filter((type) => isOwned(type) && !isRowType(type) && type.kind !== "multirange"),
    sequences: view.sequences().filter((sequence) => isOwned(sequence) && sequence.ownedBy === null),
    schemas: view.schemas().filter((schema) => isOwned(schema)),
  };
}

type Owned = ReturnType<typeof ownedBy>;

const named = <T extends { readonly schema: string; readonly name: string }>({ schema, name }: T) => {
  return { schema, name, position: 0 };
};

/** By CASCADE, but for what others have made of relations, which `cascade` says. */
function dropAll(editor: CatalogEditor, objects: Owned, cascade: boolean, nowMicros: number): ActionOutcome {
  const { tables, views, propertyGraphs, functions, types, sequences, schemas, graphs } = objects;
  const names = new Map([
    ...tables.map((table) => [table.id, `${tableKind(table)} ${table.name}`] as const),
    ...views.map(({ id, name }) => [id, `view ${name}`] as const),
    ...propertyGraphs.map(({ id, name }) => [id, `property graph ${name}`] as const),
    ...functions.map(({ id, kind, name }) => [id, `${kind} ${name}`] as const),
  ]);
  const outcomes: ActionOutcome[] = [dropDependents(editor, names, cascade)];
  for (const view of [...views, ...propertyGraphs]) editor.dropView(view);
  const materialized = tables.filter((table) => table.materialized !== undefined);
  for (const table of materialized) editor.dropTable(table);
  outcomes.push({ cleared: materialized });
  const plain = tables.filter((table) => table.materialized === undefined).map(named);
  const how = { ifExists: true, cascade: true } as const;
  outcomes.push(dropTables(editor, { kind: "drop table", tables: plain, ...how }));
  for (const graph of new Set(graphs)) {
    outcomes.push(applyGraphCommand(editor, { kind: "drop graph", graph, ifExists: true }, nowMicros));
  }
  const left = functions.filter(({ id }) => editor.view.functionById(id) !== null);
  const signatures = left.map(({ name }) => name);
  const tag = "DROP FUNCTION";
  outcomes.push(
    dropFunctions(editor, { kind: "drop functions", tag, functions: left, cascade: true, notices: [], signatures }),
  );
  const drop = (command: Parameters<typeof applyNamespaceCommand>[1]) =>
    outcomes.push(applyNamespaceCommand(editor, command, nowMicros, unmoved));
  drop({ kind: "drop type", names: types.map(named), domain: false, ...how });
  const sequencesLeft = sequences.filter(({ id }) => editor.view.sequences().some((other) => other.id === id));
  drop({ kind: "drop sequence", names: sequencesLeft.map(named), ...how });
  drop({ kind: "drop schema", names: schemas.map(({ name }) => name), ...how });
  const all = combined(outcomes);
  const skipped = (all.notices ?? []).filter((notice) => CASCADES.test(notice));
  return { ...all, notices: skipped };
}

const unmoved = (): never => {
  throw new Error("nothing is dropped by where a sequence stands");
};

/** Whether a notice is about what the roles own, or a part of it. */
function insideOf({ tables, views, propertyGraphs, functions, types, sequences, schemas }: Owned) {
  const relations = [...tables, ...views];
  const spelled = ({ schema, name }: { readonly schema: string; readonly name: string }) => {
    return [name, `${quotedIdentifier(schema)}.${quotedIdentifier(name)}`];
  };
  const whole = new Set([
    ...tables.flatMap((table) => spelled(table).map((name) => `${tableKind(table)} ${name}`)),
    ...views.flatMap((view) => spelled(view).map((name) => `view ${name}`)),
    ...propertyGraphs.flatMap((graph) => spelled(graph).map((name) => `property graph ${name}`)),
    ...types.flatMap((type) => spelled(type).map((name) => `type ${name}`)),
    ...sequences.flatMap((sequence) => spelled(sequence).map((name) => `sequence ${name}`)),
    ...schemas.map(({ name }) => `schema ${name}`),
  ]);
  const ofFunctions = functions.flatMap((fn) => spelled(fn).map((name) => `${fn.kind} ${name}`));
  return (notice: string): boolean => {
    const object = notice.replace(CASCADES, "");
    if (whole.has(object) || ofFunctions.some((name) => object === name || object.startsWith(`${name}(`))) return true;
    return relations.some(({ name }) => object.endsWith(`table ${name}`) || object.endsWith(`view ${name}`));
  };
}

function needed(outside: readonly string[]): Error {
  return sqlError("2BP01", "cannot drop desired object(s) because other objects depend on them", {
    detail: outside.map((object) => `${object} depends on what is dropped`).join("\n"),
    hint: "Use DROP ... CASCADE to drop the dependent objects too.",
  });
}
