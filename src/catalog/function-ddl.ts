/** Applies CREATE, ALTER and DROP of functions, procedures and aggregates. Called by ddl.ts. */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { CatalogView } from "./catalog-view.js";
import { type DdlOutcome, NOTHING } from "./ddl-outcome.js";
import { dropQueries, queriesThat } from "./dependent-views.js";
import type { FunctionDef } from "./function.js";
import type { DropFunctionsCommand, FunctionCommand } from "./function-command.js";
import {
  callsOf,
  describeDomain,
  describeFunction,
  describeTable,
  domainsCalling,
  dropDomainUsers,
  dropTableUsers,
  functionsCalling,
  keptUser,
  tablesCalling,
  viewDefaultsCalling,
} from "./function-users.js";
import type { PolicyCondition } from "./role.js";
import { describeTrigger, dropTriggers, triggersAsking, triggersCalling } from "./trigger-ddl.js";
import { functionsOf } from "./view.js";

export function applyFunctionCommand(editor: CatalogEditor, command: FunctionCommand, nowMicros: number): DdlOutcome {
  switch (command.kind) {
    case "create function": {
      const { replaces } = command;
      const id = replaces?.id ?? editor.nextId();
      const comment = replaces?.comment === undefined ? {} : { comment: replaces.comment };
      const createdAt = replaces?.createdAt ?? nowMicros;
      editor.putFunction(Object.freeze({ ...command.function, ...comment, id, createdAt }));
      return { ...NOTHING, tag: `CREATE ${command.function.kind.toUpperCase()}` };
    }
    case "drop functions":
      return dropFunctions(editor, command);
    case "alter function":
      editor.putFunction(Object.freeze(command.after));
      return { ...NOTHING, tag: command.tag };
  }
}

export function dropFunctions(editor: CatalogEditor, command: DropFunctionsCommand): DdlOutcome {
  const notices = [...command.notices];
  const cleared: DdlOutcome["cleared"][number][] = [];
  const clearedIndexes: DdlOutcome["clearedIndexes"][number][] = [];
  command.functions.forEach((fn, i) => {
    // One that calls another of them went with it.
    if (editor.view.functionById(fn.id) === null) return;
    const signature = command.signatures[i]!;
    const users = usersOf(editor, fn, command);
    const described = describe(users);
    if (described.length > 0) {
      if (!command.cascade) throw needed(signature, described, fn);
      notices.push(...described.map((user) => `drop cascades to ${user}`));
    }
    // Whatever calls it does not come back to it: functions may call each other.
    editor.dropFunction(fn);
    const outcomes = [...users.functions.map((other) => dropCalled(editor, other)), dropQueries(editor, users.queries)];
    for (const outcome of outcomes) {
      notices.push(...outcome.notices);
      cleared.push(...outcome.cleared);
      clearedIndexes.push(...outcome.clearedIndexes);
    }
    clearedIndexes.push(...dropUsers(editor, users, signature));
  });
  return { ...NOTHING, tag: command.tag, notices, cleared, clearedIndexes };
}

/** DROP … CASCADE of a function because of what it calls or reads. */
export function dropCalled(editor: CatalogEditor, fn: FunctionDef): DdlOutcome {
  const tag = `DROP ${fn.kind.toUpperCase()}`;
  const one = { functions: [fn], signatures: [fn.name], notices: [], cascade: true } as const;
  return dropFunctions(editor, { kind: "drop functions", tag, ...one });
}

/** What calls the function, and does not go with the same statement. */
function usersOf(editor: CatalogEditor, fn: FunctionDef, command: DropFunctionsCommand) {
  const { view } = editor;
  const isLeft = (other: FunctionDef) => command.functions.every(({ id }) => id !== other.id);
  const calls = callsOf(fn, view, command.shadowed?.includes(fn) ?? false);
  const aggregates = view.functions().filter(({ aggregate }) => aggregate?.uses?.includes(fn.id));
  return {
    functions: [...aggregates, ...functionsCalling(view, calls, fn)].filter(isLeft),
    domains: domainsCalling(view, calls),
    tables: tablesCalling(view, calls),
    triggers: [...triggersCalling(editor, fn), ...triggersAsking(editor, calls)],
    viewDefaults: viewDefaultsCalling(view, calls),
    queries: queriesThat(view, (query) => functionsOf(query).includes(fn.id)),
    policed: policiesCalling(view, fn),
  };
}

type Users = ReturnType<typeof usersOf>;

function describe({ functions, domains, tables, triggers, viewDefaults, queries, policed }: Users): string[] {
  return [
    ...domains.flatMap(describeDomain),
    ...tables.flatMap(describeTable),
    ...triggers.map(describeTrigger),
    ...viewDefaults.flatMap(({ view, columns }) =>
      columns.map((column) => `default value for column ${column} of view ${view.name}`),
    ),
    ...queries.map(({ kind, definition }) => `${kind} ${definition.name}`),
    ...policed.flatMap(({ table, called }) => called.map(({ name }) => `policy ${name} on table ${table.name}`)),
    ...functions.map(describeFunction),
  ];
}

function dropUsers(editor: CatalogEditor, users: Users, signature: string): DdlOutcome["clearedIndexes"] {
  for (const { domain, isDefault } of users.domains) {
    if (isDefault) throw kept(signature, `Drop the default of domain "${domain.name}" first.`);
  }
  for (const domain of users.domains) dropDomainUsers(editor, domain);
  const cleared = users.tables.flatMap((table) => {
    const hint = keptUser(table);
    if (hint !== null) throw kept(signature, hint);
    return dropTableUsers(editor, table);
  });
  dropTriggers(editor, users.triggers);
  for (const { view, columns } of users.viewDefaults) {
    const without = view.columns.map(({ defaultSql, ...column }) =>
      defaultSql === undefined || columns.includes(column.name) ? column : { ...column, defaultSql },
    );
    editor.putView(Object.freeze({ ...view, columns: without }));
  }
  for (const { access, called } of users.policed) {
    editor.putAccess({ ...access, policies: access.policies!.filter((policy) => !called.includes(policy)) });
  }
  return cleared;
}

/** Policies that call the function, by table. */
function policiesCalling(view: CatalogView, { id }: FunctionDef) {
  const calls = (condition: PolicyCondition | null) => condition !== null && functionsOf(condition).includes(id);
  return view.accesses().flatMap((access) => {
    const table = view.tableById(access.objectId);
    const called = (access.policies ?? []).filter(({ using, check }) => calls(using) || calls(check));
    return table === null || called.length === 0 ? [] : [{ access, table, called }];
  });
}

function kept(signature: string, hint: string): Error {
  return sqlError("0A000", `cannot drop function ${signature} with what calls it`, { hint });
}

function needed(signature: string, users: readonly string[], { kind }: FunctionDef): Error {
  return sqlError("2BP01", `cannot drop ${kind} ${signature} because other objects depend on it`, {
    detail: users.map((user) => `${user} depends on ${kind} ${signature}`).join("\n"),
    hint: "Use DROP ... CASCADE to drop the dependent objects too.",
  });
}
