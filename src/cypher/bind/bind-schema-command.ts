/** CREATE and DROP of INDEX and CONSTRAINT: from the tree to what catalog/graph-ddl.ts applies. */
import type { GraphCommand } from "../../catalog/graph-command.js";
import { sqlError } from "../../protocol/errors.js";
import type { SchemaCommand, SchemaSubject } from "../parse/ast.js";

/** Throws 0A000 for methods of index that a graph cannot have. */
export function bindSchemaCommand(command: SchemaCommand, graph: string): GraphCommand {
  const { name } = command;
  switch (command.kind) {
    case "create-index": {
      const { method, subject, ifNotExists, properties, position } = command;
      if (method === "vector" || method === "fulltext") {
        throw sqlError("0A000", `${method} indexes on graphs are not supported`, { position: position + 1 });
      }
      return { kind: "create graph index", graph, name, method, ifNotExists, properties, ...subjectOf(subject) };
    }
    case "create-constraint": {
      const { requires, subject, ifNotExists, properties } = command;
      return { kind: "create graph constraint", graph, name, requires, ifNotExists, properties, ...subjectOf(subject) };
    }
    case "drop-index": {
      const { label, properties, ifExists } = command;
      return { kind: "drop graph index", what: "index", graph, name, label, properties, ifExists };
    }
    case "drop-constraint":
      return {
        kind: "drop graph index",
        what: "constraint",
        graph,
        name,
        label: null,
        properties: [],
        ifExists: command.ifExists,
      };
  }
}

function subjectOf({ of, label }: SchemaSubject) {
  return { of: of === "node" ? "nodes" : "edges", label } as const;
}
