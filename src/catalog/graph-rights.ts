/** Who may read a graph at all: its tables, in all columns. Which of its rows is for the policies. */
import type { GraphTables } from "./graph.js";
import { permissionDenied, type Rights } from "./rights.js";

export function mayReadGraph(rights: Rights, { nodes, edges }: GraphTables): boolean {
  return !rights.matter || [nodes, edges].every(({ id }) => rights.may(id, "r"));
}

/** Throws 42501. */
export function requireGraph(rights: Rights, graph: GraphTables): void {
  if (!mayReadGraph(rights, graph)) throw permissionDenied("graph", graph.name);
}
