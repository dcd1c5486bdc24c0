/** CREATE SCHEMA with what is made in it. Called by bind-statement.ts. */
import { sqlError } from "../../protocol/errors.js";
import type { CreateSchemaStatement, StatementNode } from "../parse/ast.js";
import type { NameNode } from "../parse/ast-query.js";
import { bindCreateSchema, makersEnvironment } from "./bind-namespace.js";
import type { BindEnvironment, BoundStatement, DdlStep } from "./bound-statement.js";
import { relationOf } from "./scope.js";

/** The elements are statements of their own that name things in the new schema first. */
export function createSchema(
  node: CreateSchemaStatement,
  env: BindEnvironment,
  bind: (node: StatementNode, env: BindEnvironment) => BoundStatement,
): BoundStatement {
  const command = bindCreateSchema(node, env);
  if (node.elements.length === 0) return { kind: "ddl", command };
  const schema = command.name;
  const elements = inOrder(node.elements).map(
    (element): DdlStep =>
      (env) => {
        // What is made belongs to the schema's owner, with whose rights it is made.
        const maker = command.owner === undefined ? null : env.catalog.roleById(command.owner);
        const makers = maker === null ? env : makersEnvironment(maker, env);
        requireInSchema(element, schema);
        const bound = bind(element, { ...makers, searchPath: [schema, ...env.searchPath] });
        if (bound.kind === "ddl") return maker === null ? bound : { ...bound, maker };
        throw sqlError("0A000", `${element.kind.toUpperCase()} in CREATE SCHEMA is not supported`, {
          position: element.position,
        });
      },
  );
  return {
    kind: "ddl steps",
    tag: "CREATE SCHEMA",
    steps: [() => ({ kind: "ddl", command }), ...elements],
    notices: [],
  };
}

/** As PostgreSQL makes them, whatever their order in the text. */
const ELEMENTS: readonly StatementNode["kind"][] = [
  "create sequence",
  "create table",
  "create view",
  "create index",
  "create trigger",
  "grant",
];

function inOrder(elements: readonly StatementNode[]): readonly StatementNode[] {
  return elements.toSorted((a, b) => ELEMENTS.indexOf(a.kind) - ELEMENTS.indexOf(b.kind));
}

/** Whose schema is that of what the statement makes. */
function nameOfMade(element: StatementNode): NameNode | null {
  switch (element.kind) {
    case "create table":
    case "create view":
    case "create sequence":
      return element.name;
    case "create index":
      return element.table;
    case "create trigger":
      return element.relation;
    default:
      return null;
  }
}

/** Throws 42P15 for what is made in another schema. */
function requireInSchema(element: StatementNode, schema: string): void {
  const named = nameOfMade(element);
  const given = named === null ? null : relationOf(named).schema;
  if (given === null || given === schema) return;
  const message = `CREATE specifies a schema (${given}) different from the one being created (${schema})`;
  throw sqlError("42P15", message, { position: element.position });
}
