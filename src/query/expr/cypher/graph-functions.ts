/** Cypher's functions of nodes, relationships, paths and maps (openCypher 9, "Scalar functions", "List functions"). */
import { cypherError } from "../../../values/cypher-error.js";
import { VARIANT } from "../../../values/values.js";
import { DELETED_MARK, GraphNode, GraphPath, GraphRelationship, type Variant } from "../../../values/variant.js";
import { Capability, need } from "../capability.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { deletedAccess, isDeletedNode } from "./access.js";
import { cypherContextFn, cypherFn, wrongArgument } from "./define.js";

/** The graphs of the tenant. */
export const GRAPH_NAMES = new Capability<readonly string[]>("Only a statement of a tenant can list its graphs.");

/** A graph has no properties, as a graph of Neo4j that was given none. */
function graphProperties(context: EvalContext, name: Variant): Variant {
  if (typeof name !== "string") throw wrongArgument("graph.propertiesByName()", "a string", name);
  if (need(context, GRAPH_NAMES).includes(name)) return new Map();
  throw cypherError("ArgumentError", "InvalidArgumentValue", `the graph "${name}" does not exist`);
}

function idOf(name: string): (entity: Variant) => number {
  return (entity) => {
    if (entity instanceof GraphNode || entity instanceof GraphRelationship) return entity.id;
    throw wrongArgument(name, "a node or a relationship", entity);
  };
}

const id = idOf("id()");
const elementId = idOf("elementId()");

/** Of a relationship that was deleted, too. */
function typeOf(relationship: Variant): string {
  if (!(relationship instanceof GraphRelationship)) throw wrongArgument("type()", "a relationship", relationship);
  const { type } = relationship;
  return type.startsWith(DELETED_MARK) ? type.slice(DELETED_MARK.length) : type;
}

function labels(node: Variant): readonly string[] {
  if (!(node instanceof GraphNode)) throw wrongArgument("labels()", "a node", node);
  if (isDeletedNode(node)) throw deletedAccess("node");
  return node.labels;
}

function propertiesOf(name: string, value: Variant): ReadonlyMap<string, Variant> {
  if (value instanceof Map) return value;
  if (value instanceof GraphNode) {
    if (isDeletedNode(value)) throw deletedAccess("node");
    return value.properties;
  }
  if (value instanceof GraphRelationship) {
    if (value.type.startsWith(DELETED_MARK)) throw deletedAccess("relationship");
    return value.properties;
  }
  throw wrongArgument(name, "a node, a relationship or a map", value);
}

function end(name: string, side: "src" | "dst"): ScalarFunction {
  return cypherContextFn(name, [VARIANT], (context: EvalContext, relationship: Variant) => {
    if (relationship instanceof GraphRelationship) return context.services.graphNode(relationship[side]);
    throw wrongArgument(`${name}()`, "a relationship", relationship);
  });
}

function pathOf(name: string, value: Variant): GraphPath {
  if (value instanceof GraphPath) return value;
  throw wrongArgument(name, "a path", value);
}

export const GRAPH_FUNCTIONS: readonly ScalarFunction[] = [
  cypherContextFn("graph.names", [], (context) => need(context, GRAPH_NAMES)),
  cypherContextFn("graph.propertiesByName", [VARIANT], graphProperties),
  cypherFn("id", 1, id),
  cypherFn("elementId", 1, (entity) => String(elementId(entity))),
  cypherFn("type", 1, typeOf),
  cypherFn("labels", 1, labels),
  cypherFn("keys", 1, (value) => [...propertiesOf("keys()", value).keys()]),
  cypherFn("properties", 1, (value) => propertiesOf("properties()", value)),
  cypherFn("apoc.any.properties", 1, (value) => propertiesOf("apoc.any.properties()", value)),
  cypherFn("apoc.any.property", 2, (value, key) => propertiesOf("apoc.any.property()", value).get(key) ?? null),
  end("startNode", "src"),
  end("endNode", "dst"),
  cypherFn("nodes", 1, (path) => pathOf("nodes()", path).nodes),
  cypherFn("relationships", 1, (path) => pathOf("relationships()", path).relationships),
  cypherFn("length", 1, (path) => pathOf("length()", path).relationships.length),
];
