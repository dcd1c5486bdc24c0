/**
 * ALTER TABLE and ALTER … RENAME. A statement with several actions becomes a list of steps. Each is bound against the
 * definitions as the steps before it left them, in PostgreSQL's order: drops, types, additions, constraints.
 */
import type { AlterAction, RelationName } from "../../catalog/ddl-command.js";
import { missingColumn } from "../../catalog/did-you-mean.js";
import type { TableDef } from "../../catalog/table.js";
import { auditedUses } from "../../catalog/table-audit.js";
import type { DomainDef } from "../../catalog/type.js";
import { sqlError } from "../../protocol/errors.js";
import { canCoerce } from "../../query/expr/coercion.js";
import { foldExpr } from "../../query/expr/fold.js";
import { displayName } from "../../query/expr/types.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Plan } from "../../query/plan/plan.js";
import { toText } from "../../values/text-format.js";
import type { SqlType } from "../../values/values.js";
import type {
  AlterTableCommand,
  AlterTableStatement,
  ConstraintNode,
  RenameStatement,
} from "../parse/ast-definitions.js";
import type { NameNode } from "../parse/ast-query.js";
import { PLAIN_INDEX, TEXT_INDEX } from "../parse/table-dialect.js";
import { inPasses } from "./alter-passes.js";
import { bindAlterView, bindRenameView } from "./bind-alter-view.js";
import { bindAttachIndex, bindAttachPartition, bindDetachPartition } from "./bind-attach-partition.js";
import { boundDefault, defaultSql, draftColumn, finishColumn, isImmutable } from "./bind-column-def.js";
import { bindCheck, bindForeignKey, bindKey } from "./bind-constraint.js";
import { contextOf } from "./bind-context.js";
import { bindDetail, givenCollation } from "./bind-details.js";
import { bindExpr } from "./bind-expr.js";
import { lookUpTable } from "./bind-from.js";
import { bindExclusion, bindPlainIndex } from "./bind-index.js";
import { descendantsOf, scanOf } from "./bind-scan.js";
import { bindTextIndex } from "./bind-search-index.js";
import { bindSequenceOptions } from "./bind-sequence.js";
import { bindStoredType } from "./bind-type.js";
import { compositeNamed } from "./bind-typed-table.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment, BoundDdl, BoundStatement, DdlStep } from "./bound-statement.js";
import { coerceAssignment, isUnknown, typeName } from "./coerce.js";
import { firstFound } from "./names.js";
import { relationOf, Scope } from "./scope.js";
import { project } from "./source.js";
import { checkStorageOfIndex, storageAfter } from "./storage-parameters.js";
import { readsColumn, refuseParameters, renamesColumn } from "./stored-expression.js";
import { parseStored } from "./stored-names.js";

type CommandOf<K extends AlterTableCommand["kind"]> = Extract<AlterTableCommand, { kind: K }>;

/** `rebind`: a binding over the definitions that an environment has. */
export function bindAlterTable(
  node: AlterTableStatement,
  binding: Binding,
  rebind: (env: BindEnvironment) => Binding,
): BoundStatement {
  const tag = "ALTER TABLE";
  const other = bindAlterView(node, binding) ?? bindIndexOptions(node, binding);
  if (other !== null) return other;
  const relation = relationOf(node.name);
  if (node.ifExists && !tableExists(node.name, binding)) {
    return { kind: "ddl steps", tag, steps: [], notices: [`relation "${relation.name}" does not exist, skipping`] };
  }
  const [first] = node.commands;
  if (first?.kind === "attach partition" && first.bound === null) {
    return { kind: "ddl", command: bindAttachIndex(node.name, first, binding) };
  }
  const ignored = node.commands.flatMap((command) => (command.kind === "ignored" ? [command.what] : []));
  const notices = ignored.map((what) => `${what} has no effect here and was ignored`);
  const { catalog } = binding.env;
  const isOther = (schema: string, name: string) =>
    catalog.index(schema, name) ?? catalog.searchIndex(schema, name) ?? catalog.sequence(schema, name) ?? null;
  const isIndex = node.commands.length === ignored.length && firstFound(relation, binding.env, isOther) !== null;
  if (!isIndex) lookUpTable(node.name, binding);
  for (const command of node.commands)
    if (command.kind === "ignored") checkIgnored(command, node.name, isIndex, binding);
  const only = node.name.only === true;
  const descendants = isIndex || only ? [] : descendantsOf(lookUpTable(node.name, binding), binding.env);
  const on =
    (bind: Step, find: (inner: Binding) => TableDef | null): DdlStep =>
    (env) => {
      const inner = rebind(env);
      const table = find(inner);
      const bound = table === null ? null : bind(table, inner);
      if (!only || bound?.command.kind !== "alter table") return bound;
      return { ...bound, command: { ...bound.command, only } };
    };
  const steps = inPasses(node.commands).flatMap((command) => [
    ...stepsOf(command).map((bind) => on(bind, (inner) => lookUpTable(node.name, inner))),
    // Each table's rows come from a query of their own.
    ...(command.kind === "alter type" ? descendants : []).map(({ id }) =>
      on(
        (table, inner) => alterType(command as CommandOf<"alter type">, table, inner, lookUpTable(node.name, inner)),
        (inner) => inner.env.catalog.tableById(id),
      ),
    ),
  ]);
  const isConcurrent = node.commands.some(
    (command) => command.kind === "detach partition" && command.mode === "concurrently",
  );
  return {
    kind: "ddl steps",
    tag,
    steps,
    notices,
    ...(isConcurrent && { alone: "ALTER TABLE ... DETACH CONCURRENTLY" }),
  };
}

/** SET and RESET (…) of an index, which have no effect here. Null: something else. Throws 22023. */
function bindIndexOptions({ name, commands }: AlterTableStatement, { env }: Binding): BoundStatement | null {
  const given = commands.flatMap((command) => (command.kind === "options" ? [command] : []));
  if (given.length < commands.length) return null;
  const index = firstFound(relationOf(name), env, (schema, named) => env.catalog.index(schema, named));
  if (index === null) return null;
  for (const { options, reset } of given) if (!reset) checkStorageOfIndex(options);
  const notices = ["SET (storage parameters) of an index has no effect here and was ignored"];
  return { kind: "ddl steps", tag: "ALTER INDEX", steps: [], notices };
}

/** What an action that has no effect here names has to be there all the same. Throws 42703, 0A000. */
function checkIgnored(
  { what, column }: CommandOf<"ignored">,
  name: NameNode,
  isIndex: boolean,
  binding: Binding,
): void {
  if (column === undefined) return;
  if (!isIndex) {
    if (typeof column === "string") columnOf(lookUpTable(name, binding), column);
    return;
  }
  const relation = relationOf(name);
  const found = firstFound(relation, binding.env, (schema, index) => binding.env.catalog.index(schema, index));
  if (found === null || typeof column === "string" || what !== "SET STATISTICS") return;
  const { index, table } = found;
  const key = index.columns[column - 1];
  if (key?.expression !== undefined) return;
  const columnId = key?.columnId ?? index.include?.[column - 1 - index.columns.length];
  if (columnId === undefined) {
    throw sqlError("42703", `column number ${column} of relation "${index.name}" does not exist`);
  }
  const included = key === undefined ? "included" : "non-expression";
  const { name: columnName } = table.columns.find(({ id }) => id === columnId)!;
  throw sqlError("0A000", `cannot alter statistics on ${included} column "${columnName}" of index "${index.name}"`, {
    ...(key !== undefined && { hint: "Alter statistics on table column instead." }),
  });
}

function tableExists(name: NameNode, binding: Binding): boolean {
  const { schema, name: table } = relationOf(name);
  const { catalog, searchPath } = binding.env;
  return (schema === null ? searchPath : [schema]).some((candidate) => catalog.table(candidate, table) !== null);
}

type Step = (table: TableDef, binding: Binding) => BoundDdl | null;

function stepsOf(command: AlterTableCommand): Step[] {
  switch (command.kind) {
    case "add column": {
      const { column } = command;
      const constraints = column.constraints.filter(({ kind }) => isConstraint(kind));
      // IF NOT EXISTS covers the constraints of the column, too.
      const known = (table: TableDef) => command.ifNotExists && table.columns.some(({ name }) => name === column.name);
      let skipped = false;
      return [
        (table, binding) => {
          skipped = known(table);
          return addColumn(command, table, binding);
        },
        ...constraints.map(
          (constraint): Step =>
            (table, binding) =>
              skipped ? null : addConstraint(constraint, column.name, table, binding),
        ),
      ];
    }
    case "alter type":
      return [(table, binding) => alterType(command, table, binding, null)];
    case "add constraint":
      return [(table, binding) => addConstraint(command.constraint, null, table, binding)];
    case "attach partition":
      return [(table, binding) => alter(table, bindAttachPartition(command, table, binding))];
    case "detach partition":
      return [(table, binding) => alter(table, bindDetachPartition(command, table, binding))];
    case "ignored":
      return [];
    default:
      return [(table, binding) => alter(table, plainAction(command, table, binding))];
  }
}

const isConstraint = (kind: ConstraintNode["kind"]) =>
  kind === "primary key" || kind === "unique" || kind === "check" || kind === "foreign key" || kind === "exclude";

function nameOf(table: TableDef): RelationName {
  return { schema: table.schema, name: table.name, position: 0 };
}

function alter(table: TableDef, action: AlterAction, rows: Plan | null = null): BoundDdl {
  return { kind: "ddl", command: { kind: "alter table", table: nameOf(table), action }, rows };
}

/** Throws 42703. */
function columnOf(table: TableDef, name: string) {
  const column = table.columns.find((other) => other.name === name);
  if (column === undefined) throw missingColumn(name, table, null);
  return column;
}

type Plain = Exclude<
  AlterTableCommand,
  {
    kind: "add column" | "alter type" | "add constraint" | "attach partition" | "detach partition" | "ignored";
  }
>;

function plainAction(command: Plain, table: TableDef, binding: Binding): AlterAction {
  if (command.kind === "of") {
    return { kind: "of", type: command.type === null ? null : compositeNamed(command.type, binding).id };
  }
  if ("parent" in command) {
    const { kind, parent } = command;
    return { kind, parent: nameOf(lookUpTable(parent, binding)) };
  }
  if (command.kind === "set trigger" && command.isAll) requireSuperuserFor(table, binding);
  if (command.kind === "detail") return bindDetail(command, table);
  if ("enabled" in command || "identity" in command) return command;
  if (command.kind === "options") {
    return { kind: "set storage", storage: storageAfter(command.options, command.reset, table) };
  }
  if (command.kind === "set audit") {
    requireAuditor(binding);
    return { kind: "set audit", uses: auditedUses(command.uses ?? "", command.position) };
  }
  const { name } = command;
  switch (command.kind) {
    case "drop column":
      return { ...command, reads: readsColumn(name) };
    case "set default": {
      const column = columnOf(table, name);
      return { kind: "set default", name, defaultSql: defaultSql(command.expr, column, binding) };
    }
    case "drop default":
      return { kind: "set default", name, defaultSql: null };
    case "add identity": {
      const { type } = columnOf(table, name);
      if (!["int2", "int4", "int8"].includes(type.name)) {
        throw sqlError("22023", "identity column type must be smallint, integer, or bigint");
      }
      const identity = command.always ? "always" : "by default";
      return { kind: "add identity", name, identity, sequence: bindSequenceOptions(command.options) };
    }
    case "set identity": {
      // The grammar gives the letter's code: a for ALWAYS, d for BY DEFAULT.
      const generated = command.options.find((option) => option.name === "generated");
      const identity = generated === undefined ? null : generated.value === "a".charCodeAt(0) ? "always" : "by default";
      const options = bindSequenceOptions(command.options.filter((option) => option !== generated));
      return { kind: "set identity", name, identity, options };
    }
    case "drop constraint":
    case "drop identity":
    case "drop expression":
    case "alter constraint":
      return command;
    default:
      return { kind: command.kind, name };
  }
}

/** Whoever may be watched does not say so himself. Throws 42501. */
function requireAuditor({ env }: Binding): void {
  if (env.rights === undefined || env.rights.isSuperuser) return;
  throw sqlError("42501", "permission denied: only administrators change what is audited");
}

/** Triggers of foreign keys are the system's. Throws 42501. */
function requireSuperuserFor({ name, foreignKeys = [], referencedBy = [] }: TableDef, { env }: Binding): void {
  if (foreignKeys.length + referencedBy.length === 0 || env.rights === undefined || env.rights.isSuperuser) return;
  throw sqlError("42501", `permission denied: the foreign keys of "${name}" are checked by system triggers`, {
    hint: "Name the triggers, or say USER in place of ALL.",
  });
}

/** What a new column of a domain holds in rows that are there, as SQL: its default or NULL, which it may refuse. */
function ofDomain(type: SqlType, { env }: Binding): string | null {
  let restricted = false;
  for (let user = type.user; user?.kind === "domain"; user = user.base?.user) {
    const { defaultSql, notNull, checks } = env.catalog.typeById(user.id) as DomainDef;
    if (defaultSql !== null) return `(${defaultSql})::${displayName(type)}`;
    restricted ||= notNull || checks.length > 0;
  }
  return restricted ? `NULL::${displayName(type)}` : null;
}

function addColumn(command: CommandOf<"add column">, table: TableDef, binding: Binding): BoundDdl {
  const draft = draftColumn(command.column, binding);
  const { name, type } = draft.column;
  const { ifNotExists } = command;
  // Only the new column itself may not be read by its expression.
  const column = finishColumn(draft, table, binding);
  const base = { kind: "add column", column, ifNotExists } as const;
  if (draft.generatedNode !== null) {
    return alter(table, { ...base, missing: null, refill: `NULL::${displayName(type)}` });
  }
  if (draft.defaultNode === null) {
    return alter(table, { ...base, missing: null, refill: column.sequence === null ? ofDomain(type, binding) : null });
  }
  const bound = boundDefault(draft.defaultNode, { name, type }, binding);
  const folded = isImmutable(bound) ? foldExpr(bound) : bound;
  if (folded.kind === "const") {
    const missing = folded.value === null ? null : toText(type, folded.value);
    return alter(table, { ...base, missing, refill: null });
  }
  return alter(table, { ...base, missing: null, refill: `(${column.defaultSql})::${displayName(type)}` });
}

function addConstraint(node: ConstraintNode, own: string | null, table: TableDef, binding: Binding): BoundDdl {
  switch (node.kind) {
    case "primary key":
    case "unique": {
      const primary = node.kind === "primary key";
      if (node.index !== null) {
        return alter(table, { kind: "add key using index", primary, name: node.name, index: node.index });
      }
      return alter(table, { kind: "add key", primary, key: bindKey(node, own, table) });
    }
    case "check":
      return alter(table, { kind: "add check", check: bindCheck(node, own, table, binding) });
    case "exclude": {
      if (node.method === TEXT_INDEX) {
        const index = { ...bindTextIndex(node, table), name: node.name };
        return {
          kind: "ddl",
          command: { kind: "create search index", table: nameOf(table), ifNotExists: false, ...index },
        };
      }
      if (node.method === PLAIN_INDEX) {
        const index = bindPlainIndex(node, table, binding);
        return { kind: "ddl", command: { kind: "create index", table: nameOf(table), ifNotExists: false, ...index } };
      }
      const index = bindExclusion(node, table, table.partitionKey !== undefined, binding);
      return { kind: "ddl", command: { kind: "create index", table: nameOf(table), ifNotExists: false, ...index } };
    }
    case "foreign key":
      return alter(table, { kind: "add foreign key", foreignKey: bindForeignKey(node, own, table, binding) });
    default:
      throw sqlError("0A000", `ADD CONSTRAINT ${node.kind.toUpperCase()} is not supported yet`, {
        position: node.position,
      });
  }
}

/**
 * `following`: of a descendant, the table that the statement names. The rows under the new type come from a query over
 * the table as it was.
 */
function alterType(
  command: CommandOf<"alter type">,
  table: TableDef,
  binding: Binding,
  following: TableDef | null,
): BoundDdl {
  const column = columnOf(table, command.name);
  const { name } = column;
  const type = bindStoredType(command.type, binding);
  const target = { name, type };
  const { plan, items, columns } = scanOf(table, null, false, 0, binding);
  const scope = new Scope(null);
  scope.items = items;
  const context = { ...contextOf(binding, scope, "transform expressions"), subqueries: false };
  const { using } = command;
  if (using !== null) refuseParameters(using, "transform expressions");
  const i = table.columns.indexOf(column);
  const value = using === null ? columnExpr(columns[i]!) : bindExpr(using, context);
  if (!isUnknown(value) && !canCoerce(value.type, type, "assignment")) {
    const subject = using === null ? `column "${name}"` : `result of USING clause for column "${name}"`;
    throw sqlError("42804", `${subject} cannot be cast automatically to type ${typeName(type)}`, {
      hint:
        using === null
          ? `You might need to specify "USING ${name}::${displayName(type)}".`
          : "You might need to add an explicit cast.",
    });
  }
  const exprs = columns.map(columnExpr);
  const changed = exprs.map((expr, at) => (at === i ? coerceAssignment(value, target, binding, 0) : expr));
  const names = table.columns.map((other) => other.name);
  const rows = project(plan, changed, names, binding).plan;
  const rewrites = using !== null || !keepsValues(column.type, type);
  const action: AlterAction = {
    kind: "set type",
    name,
    type,
    collation: givenCollation(command.collation, type, command.type.position),
    rewrites,
    defaultSql: defaultUnder(column, type, table, binding),
    reads: readsColumn(name),
    following: following?.id ?? null,
  };
  return alter(table, action, rewrites ? rows : null);
}

/** Text types hold the same bytes; a bound may only grow. */
function keepsValues(from: SqlType, to: SqlType): boolean {
  if (from === to) return true;
  const isText = (type: SqlType) => type.name === "text" || type.name === "varchar";
  if (!isText(from) || !isText(to)) return false;
  return to.modifier === null || (from.modifier !== null && to.modifier >= from.modifier);
}

function defaultUnder(
  column: TableDef["columns"][number],
  type: SqlType,
  table: TableDef,
  binding: Binding,
): string | null {
  const { name, defaultSql: sql } = column;
  if (sql === null || column.identity !== null) return sql;
  const node = parseStored(sql, table.schema);
  const before = boundDefault(node, column, binding);
  if (!canCoerce(before.type, type, "assignment")) {
    const message = `default for column "${name}" cannot be cast automatically to type ${typeName(type)}`;
    throw sqlError("42804", message);
  }
  return before.type === type ? sql : `(${sql})::${displayName(column.type)}`;
}

export function bindRename(node: RenameStatement, binding: Binding): BoundStatement {
  const other = bindRenameView(node, binding);
  if (other !== null) return other;
  const { position, newName } = node;
  const object = node.object === "materialized view" ? "table" : node.object;
  const tag = object === "index" ? "ALTER INDEX" : "ALTER TABLE";
  const relation = relationOf(node.relation);
  const { catalog, searchPath } = binding.env;
  const schemas = relation.schema === null ? searchPath : [relation.schema];
  const skipped = (): BoundStatement => {
    return { kind: "ddl steps", tag, steps: [], notices: [`relation "${relation.name}" does not exist, skipping`] };
  };
  const isKey = (schema: string) =>
    catalog.index(schema, relation.name) !== null ||
    catalog.searchIndex(schema, relation.name) !== null ||
    catalog.tables().some((table) => table.schema === schema && table.primaryKeyName === relation.name);
  const isIndex = schemas.some(isKey);
  const command = {
    kind: "rename",
    part: node.part,
    newName,
    renamed: renamesColumn(node.part ?? "", newName),
  } as const;
  // ALTER TABLE takes an index, and ALTER INDEX a table.
  const isOtherIndex = () => object === "table" && !tableExists(node.relation, binding) && isIndex;
  if ((object === "index" && (isIndex || !tableExists(node.relation, binding))) || isOtherIndex()) {
    const schema = schemas.find(isKey);
    if (schema === undefined && node.ifExists) return skipped();
    const found = { schema: schema ?? schemas[0]!, name: relation.name, position: node.relation.position };
    return { kind: "ddl", command: { ...command, object: "index", relation: found }, rows: null };
  }
  if (object !== "table" && object !== "index" && object !== "column" && object !== "constraint") {
    throw sqlError("0A000", `ALTER ${object.toUpperCase()} RENAME is not supported yet`, { position });
  }
  if (node.ifExists && !tableExists(node.relation, binding)) return skipped();
  const table = lookUpTable(node.relation, binding);
  if (node.object === "materialized view" && !table.materialized) {
    throw sqlError("42809", `"${table.name}" is not a materialized view`, { position: node.relation.position });
  }
  const only = node.relation.only === true;
  return {
    kind: "ddl",
    command: { ...command, object: object === "index" ? "table" : object, relation: nameOf(table), only },
    rows: null,
  };
}
