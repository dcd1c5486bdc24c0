/** Converts definition statements from the grammar's JSON to our syntax tree. Called by from-pg.ts. */
import type {
  ColumnDef,
  CreateStmt,
  CreateTableAsStmt,
  DefElem,
  DropStmt,
  IndexStmt,
  Node,
  ObjectType,
  OnCommitAction,
  ReindexStmt,
  RenameStmt,
  RoleSpec,
} from "@pgsql/types";
import { sqlError } from "../../protocol/errors.js";
import type { CreateTableAsExecuteStatement, ReindexStatement, StatementNode } from "./ast.js";
import type {
  ColumnDefNode,
  ConstraintNode,
  CreateIndexStatement,
  CreateTableAsStatement,
  CreateTableStatement,
  DropStatement,
  PartitionColumnNode,
  Persistence,
  RenameStatement,
} from "./ast-definitions.js";
import type { NameNode } from "./ast-query.js";
import { type Conversion, notSupported, objectName, only, pathOf, strings, tagOf } from "./conversion.js";
import { IMMUTABLE_TABLE } from "./dialect.js";
import { convertAccess } from "./from-pg-access.js";
import { alterTable } from "./from-pg-alter.js";
import { columnConstraints, columnDef, constraint, convertOptions, indexElement } from "./from-pg-columns.js";
import { convertType } from "./from-pg-expr.js";
import { convertPartitionBy, convertPartitionOf } from "./from-pg-partition.js";
import { relationName } from "./from-pg-query.js";
import { convertStatistics } from "./from-pg-statistics.js";
import { convertTrigger } from "./from-pg-triggers.js";

/** null: not a definition that is known here. */
export function convertDefinition(node: Node, c: Conversion, position: number): StatementNode | null {
  const tag = tagOf(node);
  const part = convertTrigger(node, c, position) ?? convertStatistics(node, c, position);
  if (part !== null) return part;
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
      const check = view.withCheckOption;
      return {
        kind: "create view",
        name: relationName(view.view!, c),
        persistence: persistence(view.view?.relpersistence),
        replace: view.replace ?? false,
        columns: strings(view.aliases),
        query: c.subquery(view.query),
        checkOption: check === "LOCAL_CHECK_OPTION" ? "local" : check === "CASCADED_CHECK_OPTION" ? "cascaded" : null,
        options: convertOptions(view.options, c),
        text: "",
        position,
      };
    }
    case "CreateSchemaStmt": {
      const schema = only(node, tag);
      const elements = (schema.schemaElts ?? []).map((element) => {
        const converted = convertAccess(element, c, position) ?? convertDefinition(element, c, position);
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
      const options = (vacuum.options ?? []).map((item) => only(item, "DefElem").defname);
      const analyzes = !vacuum.is_vacuumcmd || options.includes("analyze");
      return { kind: vacuum.is_vacuumcmd ? "vacuum" : "analyze", analyzes, tables, columns, position };
    }
    case "CheckPointStmt":
      return { kind: "checkpoint", analyzes: false, tables: [], columns: [], position };
    case "ClusterStmt": {
      const { relation, indexname } = only(node, tag);
      const tables = relation === undefined ? [] : [relationName(relation, c)];
      const index = indexname === undefined ? {} : { index: indexname };
      return { kind: "cluster", analyzes: false, tables, columns: tables.map(() => []), ...index, position };
    }
    case "ReindexStmt":
      return reindex(only(node, tag), c, position);
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
    options: convertOptions(into.options, c),
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

function reindex({ kind, relation, name, params }: ReindexStmt, c: Conversion, position: number): ReindexStatement {
  const options = (params ?? []).map((param) => only(param, "DefElem"));
  const isOn = ({ arg }: DefElem) => arg === undefined || !/^(?:false|off|0)$/i.test(optionText(arg));
  for (const { defname, arg } of options) {
    if (defname === "concurrently" || defname === "verbose") continue;
    const message =
      defname === "tablespace" && arg !== undefined
        ? `tablespace "${optionText(arg)}" does not exist`
        : `unrecognized REINDEX option "${defname}"`;
    throw sqlError(defname === "tablespace" ? "42704" : "42601", message, { position });
  }
  const target = (kind ?? "").replace(/^REINDEX_OBJECT_/, "").toLowerCase() as ReindexStatement["target"];
  const named = relation === undefined ? null : relationName(relation, c);
  return {
    kind: "reindex",
    target,
    name: named ?? (name === undefined ? null : { path: [name], position: 0 }),
    concurrently: options.some((option) => option.defname === "concurrently" && isOn(option)),
    position,
  };
}

const optionText = (arg: Node): string => {
  if ("String" in arg) return only(arg, "String").sval ?? "";
  return "Integer" in arg ? String(only(arg, "Integer").ival ?? 0) : "";
};
