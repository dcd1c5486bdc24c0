/**
 * Drops relations and functions with what depends on them: either may be needed by the other. Called by the files of
 * ddl.
 */
import { sqlError } from "../protocol/errors.js";
import { requireOwner } from "./author.js";
import type { CatalogEditor } from "./catalog-editor.js";
import { type DdlOutcome, NOTHING } from "./ddl-outcome.js";
import { type Dependent, dependentsOf, type PolicyOf, queriesThat, type RuleOf } from "./dependent-views.js";
import type { FunctionDef } from "./function.js";
import type { DropFunctionsCommand } from "./function-command.js";
import {
  type Calls,
  callsOf,
  describeDomain,
  describeFunction,
  describeTable,
  domainsCalling,
  dropDomainUsers,
  dropTableUsers,
  functionsCalling,
  tablesCalling,
  viewDefaultsCalling,
} from "./function-users.js";
import type { DroppedHeir } from "./inheritance.js";
import { functionsOf } from "./kept-query.js";
import { refersTo } from "./object-reference.js";
import { type CastDef, describeOperator, isComputedBy, type OperatorDef, typesOf } from "./operator.js";
import { removeRule } from "./rule-ddl.js";
import type { TableDef } from "./table.js";
import { describeTrigger, dropTriggers, triggersAsking, triggersCalling } from "./trigger-ddl.js";
import { isOfType, type TypeDef } from "./type.js";

/** What DROP of several relations took with it. */
export interface CascadeOutcome {
  readonly notices: readonly string[];
  /** Tables of materialized views, whose rows must go. */
  readonly cleared: readonly TableDef[];
  /** Indexes that called a function that went. */
  readonly clearedIndexes: DdlOutcome["clearedIndexes"];
}

/**
 * Drops what depends on relations that are about to be dropped (`what` names them: `table t`, by id), or throws 2BP01
 * when there is anything and the statement does not say CASCADE. With a column id only that column of the relations is
 * dropped. `heirs` inherit from them and go in the same way; the caller drops those.
 */
export function dropDependents(
  editor: CatalogEditor,
  dropped: ReadonlyMap<number, string>,
  cascade: boolean,
  columnId: number | null = null,
  heirs: readonly DroppedHeir[] = [],
): CascadeOutcome {
  const found = new Map<number, { readonly dependent: Dependent; readonly on: string }>();
  const goes = (id: number) => dropped.has(id) || found.has(id) || heirs.some(({ table }) => table.id === id);
  const visit = (id: number, on: string, column: number | null): void => {
    for (const dependent of dependentsOf(editor.view, id, column)) {
      const { definition, kind } = dependent;
      if (found.has(definition.id) || dropped.has(definition.id)) continue;
      // It goes with its table anyway.
      const isPart = dependent.kind === "rule" || dependent.kind === "policy";
      if (isPart && goes((definition as RuleOf).ownerId) && (column === null || dependent.kind === "policy")) continue;
      found.set(definition.id, { dependent, on });
      visit(definition.id, `${kind} ${definition.name}`, null);
    }
  };
  for (const [id, on] of dropped) visit(id, on, columnId);
  for (const { table } of heirs) visit(table.id, `table ${table.name}`, null);
  // Partitions are part of their table.
  const inheriting = heirs.filter(({ table }) => table.partitionBound === undefined);
  const others = [...found.values()].map(({ dependent, on }) => {
    return { name: `${dependent.kind} ${dependent.definition.name}`, on };
  });
  const all = [
    ...inheriting.map(({ table, parent }) => ({ name: `table ${table.name}`, on: `table ${parent.name}` })),
    ...others,
  ];
  if (all.length === 0) return NOTHING_LOST;
  const names = all.map(({ name }) => name);
  if (!cascade) {
    const what = dropped.size === 1 ? [...dropped.values()][0]! : "desired object(s)";
    throw sqlError(
      "2BP01",
      `cannot drop ${what} because other objects depend on ${dropped.size === 1 ? "it" : "them"}`,
      {
        detail: all.map(({ name, on }) => `${name} depends on ${on}`).join("\n"),
        hint: "Use DROP ... CASCADE to drop the dependent objects too.",
      },
    );
  }
  const outcome = dropAll(
    editor,
    [...found.values()].map(({ dependent }) => dependent),
  );
  return { ...outcome, notices: [...names.map((name) => `drop cascades to ${name}`), ...outcome.notices] };
}

/** Drops queries that need something that goes, with what else depends on them. */
function dropQueries(editor: CatalogEditor, queries: readonly Dependent[]): CascadeOutcome {
  const names = new Map(queries.map(({ kind, definition }) => [definition.id, `${kind} ${definition.name}`]));
  const others = dropDependents(editor, names, true);
  const own = dropAll(editor, queries);
  return {
    notices: [...others.notices, ...own.notices],
    cleared: [...others.cleared, ...own.cleared],
    clearedIndexes: [...others.clearedIndexes, ...own.clearedIndexes],
  };
}

/** Drops these, and what calls the functions among them. */
function dropAll(editor: CatalogEditor, dependents: readonly Dependent[]): CascadeOutcome {
  const notices: string[] = [];
  const cleared: TableDef[] = [];
  const clearedIndexes: DdlOutcome["clearedIndexes"][number][] = [];
  for (const { kind, definition } of dependents) {
    switch (kind) {
      case "view":
      case "property graph":
        editor.dropView(definition);
        break;
      case "materialized view":
        editor.dropTable(definition);
        cleared.push(definition);
        break;
      case "rule":
        removeRule(editor, definition);
        break;
      case "policy":
        removePolicy(editor, definition);
        break;
      default: {
        const dropped = dropCalled(editor, definition);
        notices.push(...dropped.notices);
        cleared.push(...dropped.cleared);
        clearedIndexes.push(...dropped.clearedIndexes);
      }
    }
  }
  return { notices, cleared, clearedIndexes };
}

export function dropFunctions(editor: CatalogEditor, command: DropFunctionsCommand): DdlOutcome {
  const notices = [...command.notices];
  const cleared: DdlOutcome["cleared"][number][] = [];
  const clearedIndexes: DdlOutcome["clearedIndexes"][number][] = [];
  command.functions.forEach((fn, i) => {
    // One that calls another of them went with it.
    if (editor.view.functionById(fn.id) === null) return;
    const signature = command.signatures[i]!;
    const users = callersOf(editor, fn, command);
    const described = describeUsers(users);
    if (described.length > 0) {
      if (!command.cascade) throw needed(signature, described, fn);
      notices.push(...described.map((user) => `drop cascades to ${user}`));
    }
    // Whatever calls it does not come back to it: functions may call each other.
    editor.dropFunction(fn);
    const dropped = dropUsers(editor, users);
    notices.push(...dropped.notices);
    cleared.push(...dropped.cleared);
    clearedIndexes.push(...dropped.clearedIndexes);
  });
  return { ...NOTHING, tag: command.tag, notices, cleared, clearedIndexes };
}

/** DROP … CASCADE of a function because of what it calls or reads. */
function dropCalled(editor: CatalogEditor, fn: FunctionDef): DdlOutcome {
  const tag = `DROP ${fn.kind.toUpperCase()}`;
  const one = { functions: [fn], signatures: [fn.name], notices: [], cascade: true } as const;
  return dropFunctions(editor, { kind: "drop functions", tag, ...one });
}

/** An operator or a cast. Throws 2BP01 when something uses the operator, unless CASCADE, which drops that. */
export function dropOperator(
  editor: CatalogEditor,
  definition: OperatorDef | CastDef,
  cascade: boolean,
): CascadeOutcome {
  if ("source" in definition) {
    editor.forget("cast", definition);
    return NOTHING_LOST;
  }
  // What it is part of may have taken it.
  if (editor.view.operatorById(definition.id) === null) return NOTHING_LOST;
  const users = usersOf(editor, definition, refersToSome(definition.id));
  const described = describeUsers(users);
  if (described.length > 0 && !cascade) throw needed(definition.name, described, { kind: "operator" });
  editor.forget("operator", definition);
  const dropped = dropUsers(editor, users);
  return { ...dropped, notices: [...described.map((user) => `drop cascades to ${user}`), ...dropped.notices] };
}

const NOTHING_LOST: CascadeOutcome = { notices: [], cleared: [], clearedIndexes: [] };

/** What calls the function, and does not go with the same statement. */
function callersOf(editor: CatalogEditor, fn: FunctionDef, command: DropFunctionsCommand): Users {
  const { view } = editor;
  const isLeft = (other: FunctionDef) => command.functions.every(({ id }) => id !== other.id);
  const users = usersOf(editor, fn, callsOf(fn, view, command.shadowed?.includes(fn) ?? false));
  const aggregates = view.functions().filter(({ aggregate }) => aggregate?.uses?.includes(fn.id));
  return { ...users, functions: [...aggregates, ...users.functions].filter(isLeft) };
}

/** What names the type in a text that is kept, and functions that take or give it. */
export function typeUsersOf(editor: CatalogEditor, type: TypeDef): Users {
  const users = usersOf(editor, type, refersToSome(type.id));
  const declared = editor.view
    .functions()
    .filter(({ parameters, returns }) =>
      [...parameters, { type: returns }].some((of) => isOfType(of.type.type, type.id)),
    );
  return {
    ...users,
    // A domain's own constraints go with it.
    domains: users.domains.filter(({ domain }) => domain.id !== type.id),
    functions: [...new Set([...declared, ...users.functions])],
    operators: [...editor.view.operators(), ...editor.view.casts()].filter((each) =>
      typesOf(each).some((of) => isOfType(of, type.id)),
    ),
  };
}

function refersToSome(id: number): Calls {
  const refers = refersTo(id);
  return (sql) => typeof sql === "string" && refers(sql);
}

function usersOf(editor: CatalogEditor, fn: { readonly id: number }, calls: Calls) {
  const { view } = editor;
  return {
    functions: functionsCalling(view, calls, fn),
    domains: domainsCalling(view, calls),
    tables: tablesCalling(view, calls),
    triggers: [...triggersCalling(editor, fn), ...triggersAsking(editor, calls)],
    viewDefaults: viewDefaultsCalling(view, calls),
    queries: queriesThat(view, (query) => functionsOf(query).includes(fn.id)),
    operators: [...view.operators(), ...view.casts()].filter((each) => isComputedBy(each, fn.id)),
  };
}

export type Users = ReturnType<typeof usersOf>;

/** For messages. */
export function describeUsers(users: Users): string[] {
  const { functions, domains, tables, triggers, viewDefaults, queries, operators } = users;
  return [
    ...domains.flatMap(describeDomain),
    ...tables.flatMap(describeTable),
    ...triggers.map(describeTrigger),
    ...viewDefaults.flatMap(({ view, columns }) =>
      columns.map((column) => `default value for column ${column} of view ${view.name}`),
    ),
    ...queries.map(({ kind, definition }) => `${kind} ${definition.name}`),
    ...functions.map(describeFunction),
    ...operators.map(describeOperator),
  ];
}

/** DROP … CASCADE of what these use. */
export function dropUsers(editor: CatalogEditor, users: Users): CascadeOutcome {
  const outcomes = [
    ...users.operators.map((operator) => dropOperator(editor, operator, true)),
    ...users.functions.map((other) => dropCalled(editor, other)),
    dropQueries(editor, users.queries),
  ];
  const clearedIndexes = dropParts(editor, users);
  return {
    notices: outcomes.flatMap(({ notices }) => notices),
    cleared: outcomes.flatMap(({ cleared }) => cleared),
    clearedIndexes: [...outcomes.flatMap((outcome) => outcome.clearedIndexes), ...clearedIndexes],
  };
}

function dropParts(editor: CatalogEditor, users: Users): DdlOutcome["clearedIndexes"] {
  for (const domain of users.domains) dropDomainUsers(editor, domain);
  const cleared = users.tables.flatMap((table) => dropTableUsers(editor, table));
  dropTriggers(editor, users.triggers);
  for (const { view, columns } of users.viewDefaults) {
    const without = view.columns.map(({ defaultSql, ...column }) =>
      defaultSql === undefined || columns.includes(column.name) ? column : { ...column, defaultSql },
    );
    editor.putView(Object.freeze({ ...view, columns: without }));
  }
  return cleared;
}

/**
 * Throws 42501 unless the author owns the table, also where nothing else is asked for: without a restrictive policy
 * there may be more rows to see.
 */
function removePolicy(editor: CatalogEditor, { ownerId, policy }: PolicyOf): void {
  const table = editor.view.tableById(ownerId);
  if (table !== null) requireOwner(editor.sender, "table", table);
  const access = editor.view.accessTo(ownerId);
  if (access === null) return;
  editor.putAccess({ ...access, policies: (access.policies ?? []).filter(({ name }) => name !== policy.name) });
}

function needed(signature: string, users: readonly string[], { kind }: { readonly kind: string }): Error {
  return sqlError("2BP01", `cannot drop ${kind} ${signature} because other objects depend on it`, {
    detail: users.map((user) => `${user} depends on ${kind} ${signature}`).join("\n"),
    hint: "Use DROP ... CASCADE to drop the dependent objects too.",
  });
}
