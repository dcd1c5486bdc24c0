/** CREATE PROPERTY GRAPH and DROP PROPERTY GRAPH on definitions. Called by ddl.ts. */
import { sqlError } from "../protocol/errors.js";
import { type CatalogEditor, relationExists } from "./catalog-editor.js";
import type { CreatePropertyGraphCommand, DropPropertyGraphsCommand } from "./ddl-command.js";
import { dropDependents } from "./drop-dependents.js";
import type { ViewOutcome } from "./view-ddl.js";

/** Throws 42P07. */
export function createPropertyGraph(
  editor: CatalogEditor,
  { schema, name, ifNotExists, graph, query }: CreatePropertyGraphCommand,
  nowMicros: number,
): ViewOutcome {
  const tag = "CREATE PROPERTY GRAPH";
  if (editor.view.hasRelation(schema, name)) {
    if (!ifNotExists) throw relationExists(name);
    return { tag, notices: [`relation "${name}" already exists, skipping`], cleared: [] };
  }
  const id = editor.nextId();
  editor.putView(
    Object.freeze({ id, schema, name, columns: [], query, checkOption: null, graph, createdAt: nowMicros }),
  );
  return { tag, notices: [], cleared: [] };
}

/** Throws 42P01, 42809 for another relation, 2BP01 when views need it. */
export function dropPropertyGraphs(editor: CatalogEditor, command: DropPropertyGraphsCommand): ViewOutcome {
  const notices: string[] = [];
  const dropped = command.graphs.flatMap(({ schema, name, position }) => {
    const graph = editor.view.propertyGraph(schema, name);
    if (graph !== null) return [graph];
    if (editor.view.hasRelation(schema, name))
      throw sqlError("42809", `"${name}" is not a property graph`, { position });
    const message = `property graph "${name}" does not exist`;
    if (!command.ifExists) throw sqlError("42P01", message, { position });
    notices.push(`${message}, skipping`);
    return [];
  });
  const names = new Map(dropped.map(({ id, name }) => [id, `property graph ${name}`]));
  const others = dropDependents(editor, names, command.cascade);
  for (const graph of dropped) editor.dropView(graph);
  return { ...others, tag: "DROP PROPERTY GRAPH", notices: [...notices, ...others.notices] };
}
