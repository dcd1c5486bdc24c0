/** Applies CREATE, ALTER and DROP of functions, procedures and aggregates. Called by ddl.ts. */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { CatalogView } from "./catalog-view.js";
import { type DdlOutcome, NOTHING } from "./ddl-outcome.js";
import type { FunctionDef } from "./function.js";
import type { DropFunctionsCommand, FunctionCommand } from "./function-command.js";
import { describeUsers, dropUsers, type FunctionUsers, tablesCalling } from "./function-users.js";
import type { PolicyCondition } from "./role.js";
import { describeTrigger, dropTriggersCalling, triggersCalling } from "./trigger-ddl.js";

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

function dropFunctions(editor: CatalogEditor, command: DropFunctionsCommand): DdlOutcome {
  const notices = [...command.notices];
  const dropped = new Set(command.functions);
  const clearedIndexes: DdlOutcome["clearedIndexes"][number][] = [];
  command.functions.forEach((fn, i) => {
    const aggregates = editor.view
      .functions()
      .filter((other) => !dropped.has(other) && other.aggregate?.uses?.includes(fn.id));
    for (const aggregate of aggregates) {
      if (!command.cascade) throw usedByAggregate(command.signatures[i]!, aggregate, fn);
      notices.push(`drop cascades to function ${aggregate.name}`);
      dropFunctions(editor, { ...command, functions: [aggregate], signatures: [aggregate.name], notices: [] });
      dropped.add(aggregate);
    }
    const views = editor.view.views().filter((view) => (view.query.functions ?? []).includes(fn.id));
    const policed = policiesCalling(editor.view, fn);
    const tables = command.shadowed?.includes(fn) ? [] : tablesCalling(editor.view, fn);
    const users = [
      ...triggersCalling(editor, fn).map(describeTrigger),
      ...views.map(({ name }) => `view ${name}`),
      ...policed.flatMap(({ table, called }) => called.map(({ name }) => `policy ${name} on table ${table.name}`)),
      ...tables.flatMap(describeUsers),
    ];
    if (users.length > 0) {
      if (!command.cascade) throw needed(command.signatures[i]!, users, fn);
      for (const table of tables) {
        refuseGenerated(table, command.signatures[i]!);
        clearedIndexes.push(...dropUsers(editor, table));
      }
      dropTriggersCalling(editor, fn);
      for (const view of views) editor.dropView(view);
      for (const { access, called } of policed) {
        editor.putAccess({ ...access, policies: access.policies!.filter((policy) => !called.includes(policy)) });
      }
      notices.push(...users.map((user) => `drop cascades to ${user}`));
    }
    editor.dropFunction(fn);
  });
  return { ...NOTHING, tag: command.tag, notices, clearedIndexes };
}

/** Policies that call the function, by table. */
function policiesCalling(view: CatalogView, { id }: FunctionDef) {
  const calls = (condition: PolicyCondition | null) => condition?.functions?.includes(id) === true;
  return view.accesses().flatMap((access) => {
    const table = view.tableById(access.objectId);
    const called = (access.policies ?? []).filter(({ using, check }) => calls(using) || calls(check));
    return table === null || called.length === 0 ? [] : [{ access, table, called }];
  });
}

function refuseGenerated({ table, generated }: FunctionUsers, signature: string): void {
  const [column] = generated;
  if (column === undefined) return;
  throw sqlError("0A000", `cannot drop function ${signature} with generated columns that call it`, {
    hint: `Drop column "${column.name}" of table "${table.name}" first.`,
  });
}

function usedByAggregate(signature: string, aggregate: FunctionDef, { kind }: FunctionDef): Error {
  return sqlError("2BP01", `cannot drop ${kind} ${signature} because other objects depend on it`, {
    detail: `function ${aggregate.name} depends on ${kind} ${signature}`,
    hint: "Use DROP ... CASCADE to drop the dependent objects too.",
  });
}

function needed(signature: string, users: readonly string[], { kind }: FunctionDef): Error {
  return sqlError("2BP01", `cannot drop ${kind} ${signature} because other objects depend on it`, {
    detail: users.map((user) => `${user} depends on ${kind} ${signature}`).join("\n"),
    hint: "Use DROP ... CASCADE to drop the dependent objects too.",
  });
}
