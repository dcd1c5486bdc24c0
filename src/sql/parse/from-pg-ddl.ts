/** Definition statements of the grammar's JSON, converted to ours. Called by from-pg.ts. */
import type {
  AlterTableCmd,
  AlterTableStmt,
  ColumnDef,
  Constraint,
  CreateStmt,
  CreateTableAsStmt,
  DefElem,
  DropStmt,
  IndexElem,
  IndexStmt,
  Node,
  ObjectType,
  OnCommitAction,
  RenameStmt,
  RoleSpec,
} from "@pgsql/types";
import { sqlError } from "../../protocol/errors.js";
import type {
  AlterCompositeStatement,
  AlterTableCommand,
  AlterTableStatement,
  ColumnDefNode,
  ConstraintNode,
  CreateIndexStatement,
  CreateTableAsExecuteStatement,
  CreateTableAsStatement,
  CreateTableStatement,
  DropStatement,
  ForeignKeyAction,
  IndexElement,
  OptionNode,
  PartitionColumnNode,
  Persistence,
  RenameStatement,
  StatementNode,
} from "./ast.js";
import type { NameNode } from "./ast-query.js";
import { type Conversion, notSupported, only, strings, tagOf } from "./conversion.js";
import { IMMUTABLE_TABLE } from "./dialect.js";
import { convertType } from "./from-pg-expr.js";
import { convertPartitionBound, convertPartitionBy, convertPartitionOf } from "./from-pg-partition.js";
import { relationName } from "./from-pg-query.js";

/** null: not a definition that is known here. */
export function convertDefinition(node: Node, c: Conversion, position: number): StatementNode | null {
  const tag = tagOf(node);
  switch (tag) {
    case "CreateStmt":
      return createTable(only(node, tag), c, position);
    case "CreateTableAsStmt":
      return createTableAs(only(node, tag), c, position);
    case "CreateExtensionStmt": {
      const { extname = "", if_not_exists: ifNotExists = false } = only(node, "CreateExtensionStmt");
      return { kind: "create extension", name: extname, ifNotExists, position };
    }
    case "IndexStmt":
      return createIndex(only(node, tag), c, position);
    case "AlterTableStmt":
      return alterTable(only(node, tag), c, position);
    case "RenameStmt":
      return rename(only(node, tag), c, position);
    case "DropStmt":
      return drop(only(node, tag), position);
    default:
      return smallDefinition(node, c, position);
  }
}

function smallDefinition(node: Node, c: Conversion, position: number): StatementNode | null {
  const tag = tagOf(node);
  switch (tag) {
    case "ViewStmt": {
      const view = only(node, tag);
      const option = convertOptions(view.options, c).find(({ name }) => name === "check_option");
      const given = option === undefined ? null : (String(option.value).toLowerCase() as "local" | "cascaded");
      const check = view.withCheckOption;
      return {
        kind: "create view",
        name: relationName(view.view!, c),
        persistence: persistence(view.view?.relpersistence),
        replace: view.replace ?? false,
        columns: strings(view.aliases),
        query: c.subquery(view.query),
        checkOption: check === "LOCAL_CHECK_OPTION" ? "local" : check === "CASCADED_CHECK_OPTION" ? "cascaded" : given,
        text: "",
        position,
      };
    }
    case "CreateSchemaStmt": {
      const schema = only(node, tag);
      const elements = (schema.schemaElts ?? []).map((element) => {
        const converted = convertDefinition(element, c, position);
        if (converted === null) throw notSupported("this element of CREATE SCHEMA", position);
        return converted;
      });
      const name = schema.schemaname ?? null;
      const role = roleName(schema.authrole);
      return { kind: "create schema", name, role, ifNotExists: schema.if_not_exists ?? false, elements, position };
    }
    case "CreateSeqStmt": {
      const sequence = only(node, tag);
      return {
        kind: "create sequence",
        name: relationName(sequence.sequence!, c),
        persistence: persistence(sequence.sequence?.relpersistence),
        tolerant: sequence.if_not_exists ?? false,
        options: convertOptions(sequence.options, c),
        position,
      };
    }
    case "AlterSeqStmt": {
      const sequence = only(node, tag);
      return {
        kind: "alter sequence",
        name: relationName(sequence.sequence!, c),
        persistence: persistence(sequence.sequence?.relpersistence),
        tolerant: sequence.missing_ok ?? false,
        options: convertOptions(sequence.options, c),
        position,
      };
    }
    case "TruncateStmt": {
      const truncate = only(node, tag);
      return {
        kind: "truncate",
        tables: relations(truncate.relations, c),
        restartIdentity: truncate.restart_seqs ?? false,
        cascade: truncate.behavior === "DROP_CASCADE",
        position,
      };
    }
    case "CommentStmt": {
      const comment = only(node, tag);
      const object = (comment.objtype ?? "").replace(/^OBJECT_/, "").toLowerCase();
      return {
        kind: "comment",
        object,
        name: pathOf(comment.object),
        comment: comment.comment === undefined || comment.comment === "" ? null : comment.comment,
        position,
      };
    }
    case "VacuumStmt": {
      const vacuum = only(node, tag);
      const relations = (vacuum.rels ?? []).map((item) => only(item, "VacuumRelation"));
      const tables = relations.map((item) => relationName(item.relation!, c));
      const columns = relations.map((item) => strings(item.va_cols));
      return { kind: vacuum.is_vacuumcmd ? "vacuum" : "analyze", tables, columns, position };
    }
    case "RefreshMatViewStmt": {
      const refresh = only(node, tag);
      return { kind: "refresh", name: relationName(refresh.relation!, c), withData: !refresh.skipData, position };
    }
    case "ConstraintsSetStmt": {
      const set = only(node, tag);
      return {
        kind: "set constraints",
        names: relations(set.constraints, c),
        deferred: set.deferred ?? false,
        position,
      };
    }
    default:
      return null;
  }
}

/** The role that AUTHORIZATION names; null: the user, or none given. */
function roleName(role: RoleSpec | undefined): string | null {
  return role?.roletype === "ROLESPEC_CSTRING" ? (role.rolename ?? null) : null;
}

function persistence(code: string | undefined): Persistence {
  return code === "t" ? "temporary" : code === "u" ? "unlogged" : "permanent";
}

function relations(nodes: readonly Node[] | undefined, c: Conversion): NameNode[] {
  return (nodes ?? []).map((node) => relationName(only(node, "RangeVar"), c));
}

/** A name that the grammar gives as a list, a string, or a type's name. */
export function pathOf(node: Node | undefined): string[] {
  if (node === undefined) return [];
  const tag = tagOf(node);
  if (tag === "List") return (only(node, "List").items ?? []).flatMap(pathOf);
  if (tag === "TypeName") return strings(only(node, "TypeName").names).filter((part) => part !== "pg_catalog");
  if (tag === "String") return [only(node, "String").sval ?? ""];
  return [];
}

function createTable(node: CreateStmt, c: Conversion, position: number): CreateTableStatement {
  const isPartition = node.partbound !== undefined;
  const columns: ColumnDefNode[] = [];
  const partitionColumns: PartitionColumnNode[] = [];
  const constraints: ConstraintNode[] = [];
  const like: { table: NameNode; options: number; after: number }[] = [];
  for (const element of node.tableElts ?? []) {
    const tag = tagOf(element);
    if (tag === "ColumnDef" && (isPartition || node.ofTypename !== undefined)) {
      partitionColumns.push(partitionColumn(only(element, tag), c));
    } else if (tag === "ColumnDef") columns.push(columnDef(only(element, tag), c));
    else if (tag === "Constraint") constraints.push(constraint(only(element, tag), c));
    else if (tag === "TableLikeClause") {
      const clause = only(element, tag);
      like.push({ table: relationName(clause.relation!, c), options: clause.options ?? 0, after: columns.length });
    }
  }
  const options = convertOptions(node.options, c);
  return {
    kind: "create table",
    name: relationName(node.relation!, c),
    persistence: persistence(node.relation?.relpersistence),
    ifNotExists: node.if_not_exists ?? false,
    columns,
    constraints,
    like,
    ...(node.inhRelations !== undefined && !isPartition && { inherits: relations(node.inhRelations, c) }),
    immutable: options.some(({ name }) => name === IMMUTABLE_TABLE),
    options: options.filter(({ name }) => name !== IMMUTABLE_TABLE),
    onCommit: onCommit(node.oncommit),
    ...(node.partspec !== undefined && { partitionBy: convertPartitionBy(node.partspec, c) }),
    ...(node.ofTypename !== undefined && {
      ofType: { type: convertType(node.ofTypename, c), columns: partitionColumns },
    }),
    ...(isPartition && { partitionOf: convertPartitionOf(node, partitionColumns, c) }),
    position,
  };
}

function onCommit(action: OnCommitAction | undefined): CreateTableStatement["onCommit"] {
  return action === "ONCOMMIT_DELETE_ROWS" ? "delete" : action === "ONCOMMIT_DROP" ? "drop" : "preserve";
}

/** A column that the partitioned table, or the type of a typed one, gives a type. */
function partitionColumn(node: ColumnDef, c: Conversion): PartitionColumnNode {
  const position = c.position(node.location);
  return { name: node.colname ?? "", constraints: columnConstraints(node.constraints, c), position };
}

export function columnDef(node: ColumnDef, c: Conversion): ColumnDefNode {
  const position = c.position(node.location);
  if (node.typeName === undefined) throw notSupported("a column without a type", position);
  return {
    name: node.colname ?? "",
    type: convertType(node.typeName, c),
    constraints: columnConstraints(node.constraints, c),
    collation: node.collClause === undefined ? null : strings(node.collClause.collname),
    position,
  };
}

/** DEFERRABLE and INITIALLY follow the constraint that they are about as items of their own. */
export function columnConstraints(nodes: readonly Node[] | undefined, c: Conversion): ConstraintNode[] {
  const result: ConstraintNode[] = [];
  for (const node of nodes ?? []) {
    const item = only(node, "Constraint");
    const last = result.at(-1);
    if (item.contype?.startsWith("CONSTR_ATTR_")) {
      const deferred = item.contype === "CONSTR_ATTR_DEFERRED";
      const deferrable = deferred || item.contype === "CONSTR_ATTR_DEFERRABLE";
      if (last !== undefined && deferrable) {
        result[result.length - 1] = { ...last, deferrable, initiallyDeferred: last.initiallyDeferred || deferred };
      }
      continue;
    }
    result.push(constraint(item, c));
  }
  return result;
}

const FOREIGN_KEY_ACTIONS: Record<string, ForeignKeyAction> = {
  a: "no action",
  r: "restrict",
  c: "cascade",
  n: "set null",
  d: "set default",
};

export function constraint(node: Constraint, c: Conversion): ConstraintNode {
  const position = c.position(node.location);
  const shared = {
    name: node.conname ?? null,
    deferrable: node.deferrable ?? false,
    initiallyDeferred: node.initdeferred ?? false,
    notValid: node.skip_validation ?? false,
    position,
  };
  switch (node.contype) {
    case "CONSTR_NOTNULL":
      return { ...shared, kind: "not null" };
    case "CONSTR_DEFAULT":
      return { ...shared, kind: "default", expr: c.expr(node.raw_expr!) };
    case "CONSTR_IDENTITY":
      return {
        ...shared,
        kind: "identity",
        always: node.generated_when === "a",
        options: convertOptions(node.options, c),
      };
    case "CONSTR_GENERATED":
      return { ...shared, kind: "generated", expr: c.expr(node.raw_expr!), stored: node.generated_kind !== "v" };
    case "CONSTR_CHECK":
      return {
        ...shared,
        kind: "check",
        expr: c.expr(node.raw_expr!),
        ...(node.is_no_inherit && { noInherit: true }),
      };
    case "CONSTR_PRIMARY":
    case "CONSTR_UNIQUE":
      return {
        ...shared,
        kind: node.contype === "CONSTR_PRIMARY" ? "primary key" : "unique",
        columns: strings(node.keys),
        including: strings(node.including),
        nullsNotDistinct: node.nulls_not_distinct ?? false,
        index: node.indexname ?? null,
      };
    case "CONSTR_FOREIGN": {
      const match = node.fk_matchtype === "f" ? "full" : node.fk_matchtype === "p" ? "partial" : "simple";
      return {
        ...shared,
        kind: "foreign key",
        columns: strings(node.fk_attrs),
        table: relationName(node.pktable!, c),
        references: strings(node.pk_attrs),
        match,
        onUpdate: FOREIGN_KEY_ACTIONS[node.fk_upd_action ?? "a"] ?? "no action",
        onDelete: FOREIGN_KEY_ACTIONS[node.fk_del_action ?? "a"] ?? "no action",
        onDeleteColumns: strings(node.fk_del_set_cols),
      };
    }
    case "CONSTR_EXCLUSION":
      return { ...shared, ...exclusion(node, c) };
    default:
      return { ...shared, kind: "null" };
  }
}

function indexElement(element: IndexElem, c: Conversion): IndexElement {
  const nulls = element.nulls_ordering ?? "SORTBY_NULLS_DEFAULT";
  return {
    column: element.name ?? null,
    expr: c.optional(element.expr),
    descending: element.ordering === "SORTBY_DESC",
    nullsFirst: nulls === "SORTBY_NULLS_DEFAULT" ? null : nulls === "SORTBY_NULLS_FIRST",
    operatorClass: strings(element.opclass).at(-1) ?? null,
    collation: element.collation === undefined ? null : strings(element.collation),
  };
}

function exclusion(node: Constraint, c: Conversion) {
  const pairs = (node.exclusions ?? []).map((pair) => only(pair, "List").items ?? []);
  return {
    kind: "exclude" as const,
    method: (node.access_method ?? "btree").toLowerCase(),
    elements: pairs.map(([element]) => indexElement(only(element!, "IndexElem"), c)),
    operators: pairs.map(([, operator]) => strings(only(operator!, "List").items).at(-1) ?? ""),
    including: strings(node.including),
    where: c.optional(node.where_clause),
  };
}

export function convertOptions(nodes: readonly Node[] | undefined, c: Conversion): OptionNode[] {
  return (nodes ?? []).map((node) => convertOption(only(node, "DefElem"), c));
}

export function convertOption(element: Pick<DefElem, "defname" | "arg" | "location">, c: Conversion): OptionNode {
  const name = element.defname ?? "";
  return { name, value: optionValue(element.arg), position: c.position(element.location) };
}

function optionValue(node: Node | undefined): string | number | boolean {
  if (node === undefined) return true;
  if ("Integer" in node) return node.Integer.ival ?? 0;
  if ("Float" in node) return node.Float.fval ?? "0";
  if ("Boolean" in node) return node.Boolean.boolval ?? false;
  return pathOf(node).join(".");
}

/** Also SELECT … INTO, whose parts the caller takes apart. */
export function createTableAs(
  node: CreateTableAsStmt,
  c: Conversion,
  position: number,
): CreateTableAsStatement | CreateTableAsExecuteStatement {
  const into = node.into!;
  const common = {
    name: relationName(into.rel!, c),
    persistence: persistence(into.rel?.relpersistence),
    materializedView: node.objtype === "OBJECT_MATVIEW",
    ifNotExists: node.if_not_exists ?? false,
    columns: strings(into.colNames),
    onCommit: onCommit(into.onCommit),
    withData: !into.skipData,
    position,
  } as const;
  if (tagOf(node.query!) === "ExecuteStmt") {
    const { name = "", params } = only(node.query, "ExecuteStmt");
    const execute = { kind: "execute", name, args: c.exprs(params), position } as const;
    return { kind: "create table as execute", execute, ...common };
  }
  return { kind: "create table as", ...common, query: c.subquery(node.query), text: "" };
}

function createIndex(node: IndexStmt, c: Conversion, position: number): CreateIndexStatement {
  const elements = (node.indexParams ?? []).map((param) => indexElement(only(param, "IndexElem"), c));
  return {
    kind: "create index",
    name: node.idxname ?? null,
    table: relationName(node.relation!, c),
    ...(node.concurrent && { concurrently: true }),
    unique: node.unique ?? false,
    ifNotExists: node.if_not_exists ?? false,
    nullsNotDistinct: node.nulls_not_distinct ?? false,
    method: (node.accessMethod ?? "btree").toLowerCase(),
    elements,
    including: (node.indexIncludingParams ?? []).map((param) => only(param, "IndexElem").name ?? ""),
    where: c.optional(node.whereClause),
    options: convertOptions(node.options, c),
    position,
  };
}

function alterTable(
  node: AlterTableStmt,
  c: Conversion,
  position: number,
): AlterTableStatement | AlterCompositeStatement {
  if (node.objtype === "OBJECT_TYPE") return alterComposite(node, c, position);
  const isView = node.objtype === "OBJECT_VIEW";
  if (!/^OBJECT_(?:TABLE|INDEX|VIEW|MATVIEW|SEQUENCE)$/.test(node.objtype ?? ""))
    throw notSupported(`ALTER ${objectName(node.objtype)}`, position);
  return {
    kind: "alter table",
    object: isView ? "view" : "table",
    name: relationName(node.relation!, c),
    ifExists: node.missing_ok ?? false,
    commands: (node.cmds ?? []).map((command) => {
      const action = only(command, "AlterTableCmd");
      return (isView ? viewOptions(action, c) : null) ?? alterCommand(action, c, position);
    }),
    position,
  };
}

function alterComposite(node: AlterTableStmt, c: Conversion, position: number): AlterCompositeStatement {
  const actions = (node.cmds ?? []).map((command) => only(command, "AlterTableCmd"));
  const changes = actions.map((action): AlterCompositeStatement["changes"][number] => {
    if (action.subtype === "AT_DropColumn") {
      return { kind: "drop", name: action.name ?? "", ifExists: action.missing_ok ?? false };
    }
    const def = only(action.def, "ColumnDef");
    const type = convertType(def.typeName!, c);
    return action.subtype === "AT_AddColumn"
      ? { kind: "add", name: def.colname ?? "", type }
      : { kind: "retype", name: action.name ?? "", type };
  });
  const cascade = actions.some((action) => action.behavior === "DROP_CASCADE");
  return { kind: "alter composite", name: relationName(node.relation!, c), changes, cascade, position };
}

/** Null: another action. */
function viewOptions(node: AlterTableCmd, c: Conversion): AlterTableCommand | null {
  const reset = node.subtype === "AT_ResetRelOptions";
  if (!reset && node.subtype !== "AT_SetRelOptions") return null;
  return { kind: "view options", options: convertOptions(only(node.def, "List").items, c), reset };
}

function alterCommand(node: AlterTableCmd, c: Conversion, position: number): AlterTableCommand {
  const name = node.name ?? "";
  const ifExists = node.missing_ok ?? false;
  const cascade = node.behavior === "DROP_CASCADE";
  switch (node.subtype) {
    case "AT_AddColumn":
      return { kind: "add column", column: columnDef(only(node.def, "ColumnDef"), c), ifNotExists: ifExists };
    case "AT_DropColumn":
      return { kind: "drop column", name, ifExists, cascade };
    case "AT_AlterColumnType": {
      const def = only(node.def, "ColumnDef");
      return { kind: "alter type", name, type: convertType(def.typeName!, c), using: c.optional(def.raw_default) };
    }
    case "AT_ColumnDefault":
      if (node.def === undefined) return { kind: "drop default", name };
      return { kind: "set default", name, expr: c.expr(node.def) };
    case "AT_SetNotNull":
      return { kind: "set not null", name };
    case "AT_DropNotNull":
      return { kind: "drop not null", name };
    case "AT_AddConstraint":
      return { kind: "add constraint", constraint: constraint(only(node.def, "Constraint"), c) };
    case "AT_AttachPartition":
    case "AT_DetachPartition":
    case "AT_DetachPartitionFinalize":
      return alterPartition(node, c);
    case "AT_DropConstraint":
      return { kind: "drop constraint", name, ifExists, cascade };
    case "AT_AddInherit":
      return { kind: "inherit", parent: relationName(only(node.def, "RangeVar"), c) };
    case "AT_DropInherit":
      return { kind: "no inherit", parent: relationName(only(node.def, "RangeVar"), c) };
    case "AT_AddOf":
      return { kind: "of", type: convertType(only(node.def, "TypeName"), c) };
    case "AT_DropOf":
      return { kind: "of", type: null };
    case "AT_ValidateConstraint":
      return { kind: "validate constraint", name };
    default:
      return alterIdentity(node, name, ifExists, c) ?? ignoredCommand(node, position);
  }
}

function alterPartition(node: AlterTableCmd, c: Conversion): AlterTableCommand {
  const { name, bound, concurrent = false } = only(node.def, "PartitionCmd");
  const partition = relationName(name!, c);
  if (node.subtype === "AT_AttachPartition") {
    return { kind: "attach partition", partition, bound: bound === undefined ? null : convertPartitionBound(bound, c) };
  }
  const mode = node.subtype === "AT_DetachPartitionFinalize" ? "finalize" : concurrent ? "concurrently" : "at once";
  return { kind: "detach partition", partition, mode };
}

/** Null: another action. */
function alterIdentity(node: AlterTableCmd, name: string, ifExists: boolean, c: Conversion): AlterTableCommand | null {
  switch (node.subtype) {
    case "AT_AddIdentity": {
      const identity = only(node.def, "Constraint");
      const always = identity.generated_when === "a";
      return { kind: "add identity", name, always, options: convertOptions(identity.options, c) };
    }
    case "AT_SetIdentity":
      return { kind: "set identity", name, options: convertOptions(only(node.def, "List").items, c) };
    case "AT_DropIdentity":
      return { kind: "drop identity", name, ifExists };
    case "AT_DropExpression":
      return { kind: "drop expression", name, ifExists };
    case "AT_AlterConstraint": {
      const change = only(node.def, "ATAlterConstraint");
      const { conname = "", deferrable = false, initdeferred = false } = change;
      if (change.alterInheritability) throw sqlError("0A000", "constraints cannot be altered to be NO INHERIT");
      return { kind: "alter constraint", name: conname, deferrable, initiallyDeferred: initdeferred };
    }
    default:
      return null;
  }
}

/** Actions about storage and ownership, which have no meaning here: accepted, and said so in a notice. */
const IGNORED_COMMANDS: Partial<Record<NonNullable<AlterTableCmd["subtype"]>, string>> = {
  AT_SetStatistics: "SET STATISTICS",
  AT_SetStorage: "SET STORAGE",
  AT_SetCompression: "SET COMPRESSION",
  AT_SetOptions: "SET (attribute options)",
  AT_ResetOptions: "RESET (attribute options)",
  AT_SetRelOptions: "SET (storage parameters)",
  AT_ResetRelOptions: "RESET (storage parameters)",
  AT_ClusterOn: "CLUSTER ON",
  AT_DropCluster: "SET WITHOUT CLUSTER",
  AT_SetLogged: "SET LOGGED",
  AT_SetUnLogged: "SET UNLOGGED",
  AT_DropOids: "SET WITHOUT OIDS",
  AT_SetTableSpace: "SET TABLESPACE",
  AT_ChangeOwner: "OWNER TO",
  AT_ReplicaIdentity: "REPLICA IDENTITY",
};

function ignoredCommand(node: AlterTableCmd, position: number): AlterTableCommand {
  const what = node.subtype === undefined ? undefined : IGNORED_COMMANDS[node.subtype];
  if (what !== undefined) {
    const isOfColumn = /^AT_(?:SetStatistics|SetStorage|SetCompression|SetOptions|ResetOptions)$/.test(node.subtype!);
    const column = node.name ?? node.num;
    return { kind: "ignored", what, ...(isOfColumn && column !== undefined && { column }) };
  }
  throw notSupported(`ALTER TABLE ${(node.subtype ?? "").replace(/^AT_/, "")}`, position);
}

function objectName(type: ObjectType | undefined): string {
  return (type ?? "").replace(/^OBJECT_/, "").replace(/_/g, " ");
}

const RENAMED: Partial<Record<ObjectType, RenameStatement["object"]>> = {
  OBJECT_TABLE: "table",
  OBJECT_VIEW: "view",
  OBJECT_MATVIEW: "materialized view",
  OBJECT_INDEX: "index",
  OBJECT_SEQUENCE: "sequence",
  OBJECT_COLUMN: "column",
  OBJECT_TABCONSTRAINT: "constraint",
  OBJECT_SCHEMA: "schema",
  OBJECT_TYPE: "type",
  OBJECT_DOMAIN: "type",
  OBJECT_DOMCONSTRAINT: "domain constraint",
  OBJECT_ATTRIBUTE: "attribute",
};

function rename(node: RenameStmt, c: Conversion, position: number): RenameStatement {
  const object = RENAMED[node.renameType ?? "OBJECT_TABLE"];
  if (object === undefined) throw notSupported(`ALTER ${objectName(node.renameType)} RENAME`, position);
  const isSchema = object === "schema";
  return {
    kind: "rename",
    object,
    relation: isSchema
      ? { path: [node.subname ?? ""], position }
      : node.relation === undefined
        ? { path: pathOf(node.object), position: 0 }
        : relationName(node.relation, c),
    part: isSchema ? null : (node.subname ?? null),
    newName: node.newname ?? "",
    ifExists: node.missing_ok ?? false,
    ...(object === "attribute" && { cascade: node.behavior === "DROP_CASCADE" }),
    position,
  };
}

const DROPPED: Partial<Record<ObjectType, DropStatement["object"]>> = {
  OBJECT_TABLE: "table",
  OBJECT_INDEX: "index",
  OBJECT_VIEW: "view",
  OBJECT_MATVIEW: "materialized view",
  OBJECT_SEQUENCE: "sequence",
  OBJECT_SCHEMA: "schema",
  OBJECT_TYPE: "type",
  OBJECT_DOMAIN: "domain",
};

function drop(node: DropStmt, position: number): DropStatement {
  const object = DROPPED[node.removeType ?? "OBJECT_TABLE"] ?? "absent";
  return {
    kind: "drop",
    object,
    what: objectName(node.removeType).toLowerCase(),
    // The grammar gives these names no positions.
    names: (node.objects ?? []).map((name) => ({ path: pathOf(name), position: 0 })),
    ifExists: node.missing_ok ?? false,
    cascade: node.behavior === "DROP_CASCADE",
    ...(node.concurrent && { concurrently: true }),
    position,
  };
}
