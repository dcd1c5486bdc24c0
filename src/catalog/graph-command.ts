/** Bound statements about graphs. The graph routes and cypher/bind make them, `graph-ddl.ts` applies them. */
import type { GraphIndexDef, TextIndexDef, VectorIndexDef } from "./table.js";

export type GraphCommand =
  | CreateGraphCommand
  | DropGraphCommand
  | CreateGraphLookupCommand
  | CreateGraphIndexCommand
  | CreateGraphConstraintCommand
  | DropGraphIndexCommand;

export interface CreateGraphCommand {
  readonly kind: "create graph";
  readonly graph: string;
  readonly ifNotExists: boolean;
}

export interface DropGraphCommand {
  readonly kind: "drop graph";
  readonly graph: string;
  readonly ifExists: boolean;
}

/** Which nodes or relationships an index or a constraint is about. */
interface GraphSubject {
  readonly graph: string;
  /** null: made up of what follows. */
  readonly name: string | null;
  readonly ifNotExists: boolean;
  readonly of: "nodes" | "edges";
  /** A label or a type. */
  readonly label: string;
  /** Of an index over several labels or types: all of them. */
  readonly labels?: readonly string[];
  readonly properties: readonly string[];
}

/** An index by labels or types, of which every graph has one. */
export interface CreateGraphLookupCommand {
  readonly kind: "create graph lookup";
  readonly graph: string;
  readonly name: string | null;
  readonly of: "nodes" | "edges";
  readonly ifNotExists: boolean;
}

export interface CreateGraphIndexCommand extends GraphSubject {
  readonly kind: "create graph index";
  readonly method: GraphIndexDef["method"];
  /** Of method vector. */
  readonly vector?: VectorIndexDef & { readonly dimensions: number };
  /** Of method fulltext. */
  readonly text?: TextIndexDef;
}

export interface CreateGraphConstraintCommand extends GraphSubject {
  readonly kind: "create graph constraint";
  readonly requires: "unique" | "key" | "not-null" | "type";
  /** Of a "type", as `writtenType` gives it. */
  readonly valueType?: string;
}

/** By name, or by label (or type) and properties. */
export interface DropGraphIndexCommand {
  readonly kind: "drop graph index";
  readonly what: "index" | "constraint";
  readonly graph: string;
  readonly name: string | null;
  readonly label: string | null;
  readonly properties: readonly string[];
  /** Of a constraint without a name. */
  readonly requires?: CreateGraphConstraintCommand["requires"];
  readonly ifExists: boolean;
}
