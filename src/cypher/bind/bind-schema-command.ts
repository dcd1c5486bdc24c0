/** CREATE and DROP of INDEX and CONSTRAINT: from the tree to what catalog/graph-ddl.ts applies. */
import type { GraphCommand } from "../../catalog/graph-command.js";
import { sqlError } from "../../protocol/errors.js";
import type { SchemaCommand, SchemaName, SchemaSubject } from "../parse/statement-ast.js";
import { fulltextOptions, vectorOptions } from "./bind-index-options.js";
import { type GivenParameters, givenValue, withValues } from "./given-parameters.js";

/** Throws 22023 for options that the index has not, and for a parameter that is no name. */
export function bindSchemaCommand(command: SchemaCommand, graph: string, given: GivenParameters = {}): GraphCommand {
  const name = nameOf(command.name, given);
  switch (command.kind) {
    case "create-lookup": {
      const { of, ifNotExists } = command;
      return { kind: "create graph lookup", graph, name, of: of === "node" ? "nodes" : "edges", ifNotExists };
    }
    case "create-index": {
      const { method, subject, ifNotExists, properties, position, options } = command;
      if (method === "vector" && properties.length > 1) {
        throw sqlError("0A000", "a vector index is on one property", { position: position + 1 });
      }
      return {
        kind: "create graph index",
        graph,
        name,
        method,
        ifNotExists,
        properties,
        ...subjectOf(subject),
        ...(method === "vector" && { vector: vectorOptions(options && withValues(options, given), position) }),
        ...(method === "fulltext" && { text: fulltextOptions(options && withValues(options, given)) }),
      };
    }
    case "create-constraint": {
      const { requires, subject, ifNotExists, properties, valueType } = command;
      const required = { requires, ...(valueType !== undefined && { valueType }) };
      const kind = "create graph constraint";
      return { kind, graph, name, ...required, ifNotExists, properties, ...subjectOf(subject) };
    }
    case "drop-index": {
      const { label, properties, ifExists } = command;
      return { kind: "drop graph index", what: "index", graph, name, label, properties, ifExists };
    }
    case "drop-constraint": {
      const { required, ifExists } = command;
      const drop = { kind: "drop graph index", what: "constraint", graph, name, ifExists } as const;
      if (required === undefined) return { ...drop, label: null, properties: [] };
      const { subject, properties, requires } = required;
      return { ...drop, label: subject.label, properties, requires };
    }
  }
}

function nameOf(name: SchemaName | null, given: GivenParameters): string | null {
  if (name === null || typeof name === "string") return name;
  const value = givenValue(name.name, given);
  if (typeof value === "string" && value !== "") return value;
  const what = `parameter "${name.name}" names an index or a constraint: it must be a string that is not empty`;
  throw sqlError("22023", what, { position: name.position + 1 });
}

function subjectOf({ of, label, labels }: SchemaSubject) {
  return { of: of === "node" ? "nodes" : "edges", label, ...(labels !== undefined && { labels }) } as const;
}
