/** The import of a graph from files. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { GraphName, Strict } from "./schemas.js";

const separator = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 3, description }));
const bad = (description: string) => Type.Optional(Type.Enum(["error", "skip"], { description }));

export const graphImportEndpoints = [
  {
    name: "graph.import",
    method: "POST",
    path: "/v1/graph/import",
    summary:
      "Import nodes and relationships from files in Neo4j's bulk format, all or none. The parts of the form are the files: `nodes` or `nodes:Label` first, then `relationships` or `relationships:TYPE`. Errors name file, line and column. With Accept: application/x-ndjson or text/event-stream the answer is a stream of progress whose last object is the result or the error.",
    access: "writer",
    tag: "graph",
    home: "tenant",
    door: "statements",
    slow: true,
    query: Strict({
      graph: Type.Optional(GraphName),
      delimiter: separator("Separator between fields, or TAB. Default: a comma."),
      array_delimiter: separator("Separator between the items of a field, or TAB. Default: a semicolon."),
      quote: separator("Quote around fields. Default: a double quote. Write it twice inside a field."),
      id_type: Type.Optional(
        Type.Enum(["string", "integer"], { description: "Of ids that are stored as properties. Default: string." }),
      ),
      duplicate_nodes: bad("What to do with a node whose id another node of the files has. Default: error."),
      unconnected_relationships: bad("What to do with a relationship whose node is not in the files. Default: error."),
    }),
    streamedBody: ["multipart/form-data"],
    streamedReply: ["application/x-ndjson", "text/event-stream"],
    response: Type.Object({
      nodes: Type.Integer({ description: "Number of stored nodes." }),
      relationships: Type.Integer({ description: "Number of stored relationships." }),
      properties: Type.Integer({ description: "Number of their properties." }),
      nodes_skipped: Type.Integer(),
      relationships_skipped: Type.Integer(),
      bytes: Type.Integer({ description: "Bytes of the body as sent." }),
      execution_time_ms: Type.Number(),
    }),
  },
] as const satisfies readonly EndpointSpec[];
