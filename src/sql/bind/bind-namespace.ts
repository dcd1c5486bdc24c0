/** Statements about schemas, sequences and types: names to schemas, options and expressions proven to be right. */
import type { DdlCommand } from "../../catalog/ddl-command.js";
import type { CreateSchemaCommand, MoveCommand, ObjectName, SequenceOwner } from "../../catalog/namespace-command.js";
import { actingAsRole, onLead, rightsOf } from "../../catalog/rights.js";
import type { RoleDef } from "../../catalog/role.js";
import { SYSTEM_SCHEMAS } from "../../catalog/schema.js";
import { sqlError } from "../../protocol/errors.js";
import type { CreateSchemaStatement } from "../parse/ast.js";
import type {
  CreateSequenceStatement,
  DropStatement,
  OptionNode,
  RenameStatement,
  SetSchemaStatement,
} from "../parse/ast-definitions.js";
import type { NameNode } from "../parse/ast-query.js";
import { ownerNamed } from "./bind-owner.js";
import { rightsIn } from "./bind-roles.js";
import { bindSequenceOptions } from "./bind-sequence.js";
import type { BindEnvironment } from "./bound-statement.js";
import { existingSchema, existingType, firstFound, newName } from "./names.js";
import { relationOf } from "./scope.js";

/** Throws 42501 unless the role that is to own the schema is one that the author may become. */
export function bindCreateSchema(node: CreateSchemaStatement, env: BindEnvironment): CreateSchemaCommand {
  // AUTHORIZATION CURRENT_USER.
  const name = node.name ?? node.role ?? rightsIn(env).acting.name;
  for (const element of node.elements) {
    const target = "name" in element ? element.name : "table" in element ? element.table : null;
    if (target === null || typeof target === "string" || !("path" in (target as NameNode))) continue;
    const { schema } = relationOf(target as NameNode);
    if (schema !== null && schema !== name) {
      const message = `CREATE specifies a schema (${schema}) different from the one being created (${name})`;
      throw sqlError("42P15", message, { position: node.position });
    }
  }
  const owner = node.role === null ? null : ownerNamed({ kind: "named", name: node.role }, env);
  return { kind: "create schema", name, ifNotExists: node.ifNotExists, ...(owner !== null && { owner: owner.id }) };
}

/** With the rights of the role, on the lead of who sends the statement. */
export function makersEnvironment(maker: RoleDef, env: BindEnvironment): BindEnvironment {
  if (env.rights === undefined) return env;
  const acting = onLead(actingAsRole(maker), env.rights.acting.lead);
  return { ...env, rights: rightsOf(env.catalog, acting) };
}

/** Sequences, schemas, types and domains. */
export function bindDropNamespace(node: DropStatement, env: BindEnvironment): DdlCommand | null {
  const { ifExists, cascade } = node;
  switch (node.object) {
    case "schema":
      return { kind: "drop schema", names: node.names.map((name) => name.path.at(-1)!), ifExists, cascade };
    case "sequence":
      return {
        kind: "drop sequence",
        names: node.names.map((name) => droppedName(name, env, ifExists, false)),
        ifExists,
        cascade,
      };
    case "type":
    case "domain": {
      const names = node.names.map((name) => droppedName(name, env, ifExists, true));
      return { kind: "drop type", names, domain: node.object === "domain", ifExists, cascade };
    }
    default:
      return null;
  }
}

/** A schema that does not exist is an error of its own, unless the statement says IF EXISTS. */
function droppedName(node: NameNode, env: BindEnvironment, ifExists: boolean, type: boolean): ObjectName {
  const relation = relationOf(node);
  const { catalog } = env;
  const found = firstFound(relation, env, (schema, name) =>
    (type ? catalog.type(schema, name) : (catalog.sequence(schema, name) ?? catalog.table(schema, name))) === null
      ? null
      : schema,
  );
  const { name } = relation;
  if (found !== null) return { schema: found, name, position: 0 };
  if (relation.schema !== null) {
    const schema = ifExists ? relation.schema : existingSchema(relation.schema, env, 0);
    return { schema, name, position: 0 };
  }
  return { schema: env.searchPath[0] ?? "public", name, position: 0 };
}

// ---- sequences ----

export function bindCreateSequence(node: CreateSequenceStatement, env: BindEnvironment): DdlCommand {
  const name = newName(node.name, env, node.persistence);
  const owner = ownerOf(node.options, env);
  return {
    kind: "create sequence",
    ...name,
    ifNotExists: node.tolerant,
    options: bindSequenceOptions(node.options),
    owner: owner === "none" ? null : owner,
  };
}

/** null: IF EXISTS, and it does not. */
export function bindAlterSequence(node: CreateSequenceStatement, env: BindEnvironment): DdlCommand | null {
  const { position } = node.name;
  const relation = relationOf(node.name);
  const found = firstFound(relation, env, (schema, name) => env.catalog.sequence(schema, name));
  if (found === null) {
    const other = firstFound(relation, env, (schema, name) => env.catalog.table(schema, name));
    if (other !== null) throw sqlError("42809", `"${relation.name}" is not a sequence`, { position });
    if (node.tolerant) return null;
    throw sqlError("42P01", `relation "${node.name.path.join(".")}" does not exist`, { position });
  }
  const { schema, name } = found;
  const owner = ownerOf(node.options, env);
  return { kind: "alter sequence", schema, name, position, options: bindSequenceOptions(node.options), owner };
}

/** OWNED BY; null: not given. Throws 42601 for a name without a table. */
function ownerOf(options: readonly OptionNode[], env: BindEnvironment): SequenceOwner | "none" | null {
  const option = options.find(({ name }) => name === "owned_by");
  if (option === undefined) return null;
  const { position } = option;
  const path = String(option.value).split(".");
  if (path.length === 1) {
    if (path[0]!.toLowerCase() === "none") return "none";
    throw sqlError("42601", "invalid OWNED BY option", {
      position,
      hint: "Specify OWNED BY table.column or OWNED BY NONE.",
    });
  }
  const column = path.pop()!;
  const relation = relationOf({ path, position });
  const { catalog } = env;
  const found = firstFound(
    relation,
    env,
    (schema, name) =>
      catalog.table(schema, name) ?? catalog.sequence(schema, name) ?? catalog.index(schema, name)?.table ?? null,
  );
  const system = relation.name.startsWith("pg_");
  if (found === null) {
    throw system
      ? sqlError("42809", `sequence cannot be owned by relation "${relation.name}"`, { position })
      : sqlError("42P01", `relation "${relation.name}" does not exist`, { position });
  }
  return { table: { schema: found.schema, name: relation.name, position }, column };
}

// ---- ALTER … RENAME TO, SET SCHEMA ----

/** Schemas, types, domains' constraints and sequences (also as ALTER TABLE has them); null: not one of these. */
export function bindRenameNamespace(node: RenameStatement, env: BindEnvironment): DdlCommand | null {
  const { newName: toName, relation } = node;
  const { catalog } = env;
  switch (node.object) {
    case "schema":
      return { kind: "rename schema", name: relation.path[0]!, newName: toName };
    case "type": {
      const { schema, name } = existingType(relation, env);
      return { kind: "move", object: "type", schema, name, position: 0, toSchema: schema, toName };
    }
    case "domain constraint": {
      const { schema, name } = existingType(relation, env);
      const change = { kind: "rename check", name: node.part ?? "", newName: toName } as const;
      return { kind: "alter domain", schema, name, position: 0, change };
    }
    case "table":
    case "sequence": {
      const found = firstFound(relationOf(relation), env, (schema, name) => catalog.sequence(schema, name));
      if (found === null) return node.object === "sequence" && !node.ifExists ? missingSequence(relation) : null;
      const { schema, name } = found;
      return { kind: "move", object: "sequence", schema, name, position: 0, toSchema: schema, toName };
    }
    default:
      return null;
  }
}

function missingSequence({ path, position }: NameNode): never {
  throw sqlError("42P01", `relation "${path.join(".")}" does not exist`, { position });
}

/** null: IF EXISTS, and it does not. */
export function bindSetSchema(node: SetSchemaStatement, env: BindEnvironment): DdlCommand | null {
  const { catalog } = env;
  const { position } = node.name;
  const moved = (object: MoveCommand["object"], schema: string, name: string): DdlCommand => {
    const toSchema = existingSchema(node.schema, env, position);
    if (SYSTEM_SCHEMAS.includes(toSchema)) throw sqlError("42501", `permission denied for schema ${toSchema}`);
    return { kind: "move", object, schema, name, position, toSchema, toName: name };
  };
  if (node.object === "type") {
    const { schema, name } = existingType(node.name, env);
    return moved("type", schema, name);
  }
  const relation = relationOf(node.name);
  const sequence = firstFound(relation, env, (schema, name) => catalog.sequence(schema, name));
  if (sequence !== null) {
    if (sequence.ownedBy !== null) {
      throw sqlError("0A000", "cannot move an owned sequence into another schema", { position });
    }
    return moved("sequence", sequence.schema, sequence.name);
  }
  const table = firstFound(relation, env, (schema, name) => catalog.table(schema, name));
  if (table !== null) return moved("table", table.schema, table.name);
  const view = firstFound(relation, env, (schema, name) => catalog.view(schema, name));
  if (view !== null) {
    const toSchema = existingSchema(node.schema, env, position);
    const change = { kind: "move", toSchema, toName: view.name } as const;
    return { kind: "alter view", schema: view.schema, name: view.name, change };
  }
  if (node.ifExists) return null;
  throw sqlError("42P01", `relation "${node.name.path.join(".")}" does not exist`, { position });
}
