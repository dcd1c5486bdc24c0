/**
 * The steps of a writing clause, compiled: each runs for the row that `StepRun` holds. Made once per plan and used by
 * any number of runs of graph-write.ts.
 */
import { cypherError } from "../../values/cypher-error.js";
import { decodeLabels, encodeLabels, storableName } from "../../values/labels.js";
import type { Value } from "../../values/values.js";
import { GraphNode, GraphPath, GraphRelationship, type Variant, type VariantMap } from "../../values/variant.js";
import { compileExpr, type SlotOf } from "../expr/compile.js";
import { namesIn } from "../expr/cypher/dynamic-names.js";
import { NODE_OF, RELATIONSHIP_OF } from "../expr/cypher/entities.js";
import type { Batch, CallExpr, ColumnExpr, ColumnId, Expr } from "../expr/expr.js";
import { someExpr } from "../expr/walk.js";
import type { CallStep, GraphWriteStep, MergeStep } from "../plan/graph-plans.js";
import { matchesOf } from "../plan/graph-steps.js";
import { outerColumnsOf } from "../plan/walk.js";
import type { ExecContext } from "./context.js";
import { checkPropertyValue, propertiesIn, storedProperties } from "./graph-values.js";
import type { GraphWriter } from "./graph-writer.js";
import { compileSought, type SoughtFor } from "./merge-sought.js";
import type { MergeTableProgram } from "./merge-table.js";
import { after, drainAndClose, type Open, type Operator } from "./operator.js";

/** One run of a clause: the row that steps run for, and what they write to. */
export interface StepRun {
  /** The row: each column has one value. */
  readonly cells: Value[][];
  readonly row: Batch;
  readonly context: ExecContext;
  /** `context.outer`. */
  readonly outer: Map<ColumnId, Value>;
  readonly writer: GraphWriter;
  /** Columns with ids of nodes that the statement has read. */
  readonly found: ReadonlySet<ColumnId>;
  runSteps(steps: readonly RunStep[], from: number, end: () => void | Promise<void>): void | Promise<void>;
  /** Shows the entities in the row as they are now; `hasNewCells`: some come from elsewhere. */
  renew(hasNewCells?: boolean): void;
}

export type RunStep =
  | { readonly kind: "one"; readonly run: (run: StepRun) => void | Promise<void> }
  /** Goes on once for each row that the row becomes. */
  | { readonly kind: "rows"; readonly run: (run: StepRun, goOn: () => void | Promise<void>) => void | Promise<void> };

const NO_PROPERTIES: VariantMap = new Map();

/** For a MERGE; null: each row searches by itself. */
export type TableFor = (step: MergeStep) => MergeTableProgram | null;

const NO_TABLE: TableFor = () => null;

/** `matches`: what the MERGE steps look for, in their order. */
export function compileSteps(
  steps: readonly GraphWriteStep[],
  slotOf: SlotOf,
  matches: readonly Open[],
  tableFor = NO_TABLE,
  isMerge = false,
): readonly RunStep[] {
  const rest = [...matches];
  return steps.map((step) => compileStep(step, slotOf, rest, tableFor, isMerge));
}

/** Takes what it needs of `matches`. */
function compileStep(
  step: GraphWriteStep,
  slotOf: SlotOf,
  matches: Open[],
  tableFor: TableFor,
  isMerge: boolean,
): RunStep {
  switch (step.kind) {
    case "create-node":
      return one(createNode(step, slotOf, isMerge), step.properties, ...(step.dynamic ?? []));
    case "create-edge":
      return one(createEdge(step, slotOf, isMerge), step.properties, step.src, step.dst, exprIn(step.type));
    case "set-property":
      return one(setProperty(step, slotOf), step.target, step.value, exprIn(step.key));
    case "set-properties":
      return one(setProperties(step, slotOf), step.target, step.value);
    case "set-labels":
    case "remove-labels":
      return one(changeLabels(step, slotOf), step.target, ...(step.dynamic ?? []));
    case "delete":
      return one(remove(step, slotOf), step.target);
    case "merge":
      return merge(step, slotOf, matches.shift()!, tableFor(step));
    case "call":
      return callQuery(step, slotOf, matches.shift()!);
    case "foreach": {
      const inside = compileSteps(step.steps, slotOf, matches.splice(0, matchesOf(step.steps).length), tableFor);
      return one(forEach(step, inside, slotOf), step.list);
    }
  }
}

type Step<K extends GraphWriteStep["kind"]> = Extract<GraphWriteStep, { kind: K }>;

/** A step whose subqueries see what was written before. */
function one(run: (run: StepRun) => void | Promise<void>, ...exprs: readonly (Expr | null)[]): RunStep {
  const hasSubquery = exprs.some((expr) => expr !== null && someExpr(expr, (part) => part.kind === "subquery"));
  if (!hasSubquery) return { kind: "one", run };
  return {
    kind: "one",
    run: (state) => {
      state.writer.flush();
      return run(state);
    },
  };
}

const exprIn = (name: string | Expr): Expr | null => (typeof name === "string" ? null : name);

/** A name that is written out or computed. */
function compileName(name: string | Expr, what: string, slotOf: SlotOf): (run: StepRun) => string {
  if (typeof name === "string") return () => name;
  const evaluate = compileExpr(name, slotOf);
  return ({ row, context }) => {
    const names = namesIn(evaluate(row, 0, context) as Variant);
    if (names.length === 1) return names[0]!;
    throw cypherError("TypeError", "InvalidArgumentType", `${what} is one string, not ${names.length}`);
  };
}

function compileLabels(dynamic: readonly Expr[], slotOf: SlotOf): (run: StepRun) => readonly string[] {
  const evaluates = dynamic.map((expr) => compileExpr(expr, slotOf));
  return ({ row, context }) => evaluates.flatMap((evaluate) => namesIn(evaluate(row, 0, context) as Variant));
}

function createNode(
  { columns, labels, dynamic = [], properties }: Step<"create-node">,
  slotOf: SlotOf,
  isMerge: boolean,
) {
  const plain = encodeLabels(labels);
  const further = compileLabels(dynamic, slotOf);
  const values = compileProperties(properties, slotOf, isMerge);
  const id = slotOf(columns.id.id);
  const kind = slotOf(columns.labels.id);
  const map = slotOf(columns.properties.id);
  return (run: StepRun): void => {
    const text = dynamic.length === 0 ? plain : encodeLabels([...labels, ...further(run)]);
    const state = run.writer.createNode(text, values(run));
    const { cells } = run;
    cells[id]![0] = state.id;
    cells[kind]![0] = text;
    cells[map]![0] = state.properties as Value;
  };
}

function createEdge(step: Step<"create-edge">, slotOf: SlotOf, isMerge: boolean) {
  const { columns } = step;
  const typeOf = compileName(step.type, "the type of a relationship", slotOf);
  const values = compileProperties(step.properties, slotOf, isMerge);
  const from = compileExpr(step.src, slotOf);
  const to = compileExpr(step.dst, slotOf);
  const slots = [columns.id, columns.type, columns.src, columns.dst, columns.properties].map(({ id }) => slotOf(id));
  const isFound = (end: Expr, { found }: StepRun) => end.kind === "column" && found.has(end.id);
  return (run: StepRun): void => {
    const { row, context, cells } = run;
    const type = storableName(typeOf(run));
    const src = from(row, 0, context);
    const dst = to(row, 0, context);
    if (src === null || dst === null) {
      throw cypherError(
        isMerge ? "SemanticError" : "EntityNotFound",
        isMerge ? "MergeReadOwnWrites" : "MissingNode",
        `a relationship of type "${type}" cannot be made: one of its nodes is null`,
      );
    }
    const state = run.writer.createEdge(type, Number(src), Number(dst), values(run), {
      src: isFound(step.src, run),
      dst: isFound(step.dst, run),
    });
    const made: Value[] = [state.id, type, src, dst, state.properties as Value];
    slots.forEach((slot, i) => {
      cells[slot]![0] = made[i]!;
    });
  };
}

/** The properties of what is made. Throws InvalidPropertyType, and MergeReadOwnWrites for nulls in MERGE. */
function compileProperties(expr: Expr | null, slotOf: SlotOf, isMerge: boolean): (run: StepRun) => VariantMap {
  if (expr === null) return () => NO_PROPERTIES;
  const evaluate = compileExpr(expr, slotOf);
  return ({ row, context }) => {
    const value = evaluate(row, 0, context);
    if (value === null) return NO_PROPERTIES;
    const map = propertiesIn(value);
    const stored = storedProperties(map);
    if (isMerge && stored !== map) {
      const key = [...map].find(([, item]) => item === null)?.[0];
      const message = `MERGE cannot look for a property that is null: "${key}"`;
      throw cypherError("SemanticError", "MergeReadOwnWrites", message);
    }
    return stored;
  };
}

type Entity = { readonly of: "node" | "relationship"; readonly id: number };

/** The column with the id of what is a variable of the plan, and no value; null: it is something else. */
export function idOfEntity(target: Expr): ColumnExpr | null {
  if (target.kind !== "call" || (target.fn !== NODE_OF && target.fn !== RELATIONSHIP_OF)) return null;
  const [id] = target.args;
  return id?.kind === "column" ? id : null;
}

/** What SET or REMOVE is about; null is passed over. Throws TypeError for anything but an entity. */
function compileTarget(target: Expr, slotOf: SlotOf): (run: StepRun) => Entity | null {
  const id = idOfEntity(target);
  if (id === null) {
    const evaluate = compileExpr(target, slotOf);
    return ({ row, context }) => entityIn(evaluate(row, 0, context));
  }
  const of = (target as CallExpr).fn === NODE_OF ? "node" : "relationship";
  // Its labels and properties need not be made a node of.
  const evaluate = compileExpr(id, slotOf);
  return ({ row, context }) => {
    const found = evaluate(row, 0, context);
    return found === null ? null : { of, id: Number(found) };
  };
}

function entityIn(value: Value): Entity | null {
  if (value === null) return null;
  if (value instanceof GraphNode) return { of: "node", id: value.id };
  if (value instanceof GraphRelationship) return { of: "relationship", id: value.id };
  throw cypherError("TypeError", "InvalidArgumentType", "only nodes and relationships have properties to change");
}

function setProperty(step: Step<"set-property">, slotOf: SlotOf) {
  const entityOf = compileTarget(step.target, slotOf);
  const evaluate = compileExpr(step.value, slotOf);
  const keyOf = compileName(step.key, "the name of a property", slotOf);
  return (run: StepRun): void => {
    const { row, context, writer } = run;
    const entity = entityOf(run);
    if (entity === null) return;
    const key = keyOf(run);
    const next = evaluate(row, 0, context) as Variant;
    checkPropertyValue(next);
    const state = writer.require(entity.of, entity.id);
    if (next === null && !state.properties.has(key)) return;
    const properties = new Map(state.properties);
    if (next === null) properties.delete(key);
    else properties.set(key, next);
    writer.setProperties(entity.of, state, properties, 1);
  };
}

function setProperties({ target, value, replace }: Step<"set-properties">, slotOf: SlotOf) {
  const entityOf = compileTarget(target, slotOf);
  const evaluate = compileExpr(value, slotOf);
  return (run: StepRun): void => {
    const { row, context, writer } = run;
    const entity = entityOf(run);
    if (entity === null) return;
    const given = propertiesIn(evaluate(row, 0, context));
    const state = writer.require(entity.of, entity.id);
    const properties = new Map<string, Variant>(replace ? [] : state.properties);
    let count = replace ? [...state.properties.keys()].filter((key) => !given.has(key)).length : 0;
    for (const [key, item] of given) {
      checkPropertyValue(item);
      count++;
      if (item === null) properties.delete(key);
      else properties.set(key, item);
    }
    writer.setProperties(entity.of, state, properties, count);
  };
}

function changeLabels(step: Step<"set-labels" | "remove-labels">, slotOf: SlotOf) {
  const entityOf = compileTarget(step.target, slotOf);
  const further = compileLabels(step.dynamic ?? [], slotOf);
  return (run: StepRun): void => {
    const { writer } = run;
    const entity = entityOf(run);
    if (entity === null) return;
    if (entity.of !== "node") {
      throw cypherError("TypeError", "InvalidArgumentType", "only nodes have labels");
    }
    const state = writer.require("node", entity.id);
    const before = decodeLabels(state.kind);
    const labels = [...step.labels, ...further(run)];
    const next =
      step.kind === "set-labels" ? [...before, ...labels] : before.filter((label) => !labels.includes(label));
    writer.setLabels(state, encodeLabels(next));
  };
}

function remove({ target, detach }: Step<"delete">, slotOf: SlotOf) {
  const evaluate = compileExpr(target, slotOf);
  return ({ row, context, writer }: StepRun): void => deleteAll(evaluate(row, 0, context), detach, writer);
}

/** A node, a relationship, a path, or a list of such. */
function deleteAll(value: Value, detach: boolean, writer: GraphWriter): void {
  if (value === null) return;
  if (value instanceof GraphNode) writer.deleteNode(value.id, detach);
  else if (value instanceof GraphRelationship) writer.deleteEdge(value.id);
  else if (value instanceof GraphPath) {
    for (const relationship of value.relationships) writer.deleteEdge(relationship.id);
    for (const node of value.nodes) writer.deleteNode(node.id, detach);
  } else if (Array.isArray(value)) for (const item of value as readonly Value[]) deleteAll(item, detach, writer);
  else throw cypherError("TypeError", "InvalidArgumentType", "only nodes, relationships and paths can be deleted");
}

function forEach({ list, variable }: Step<"foreach">, steps: readonly RunStep[], slotOf: SlotOf) {
  const evaluate = compileExpr(list, slotOf);
  return (run: StepRun): void | Promise<void> => {
    const value = evaluate(run.row, 0, run.context);
    if (value === null) return;
    if (!Array.isArray(value)) throw cypherError("TypeError", "InvalidArgumentType", "FOREACH goes through a list");
    const items = value as readonly Value[];
    const from = (start: number): void | Promise<void> => {
      for (let i = start; i < items.length; i++) {
        run.outer.set(variable, items[i]!);
        const pending = run.runSteps(steps, 0, nothing);
        if (pending !== undefined) return pending.then(() => from(i + 1));
      }
    };
    return from(0);
  };
}

function nothing(): void {
  // The rows inside of FOREACH go nowhere.
}

function merge(step: MergeStep, slotOf: SlotOf, match: Open, table: MergeTableProgram | null): RunStep {
  const slots = step.columns.map(({ id }) => slotOf(id));
  const outer = outerColumnsOf(step.match);
  const handedOver = [...outer].flatMap((id) => (slotOf(id) >= 0 ? [{ id, slot: slotOf(id) }] : []));
  const create = compileSteps(step.create, slotOf, [], NO_TABLE, true);
  const onCreate = compileSteps(step.onCreate, slotOf, []);
  const onMatch = compileSteps(step.onMatch, slotOf, []);
  const made = [...create, ...onCreate];
  const soughtFor = compileSought(step, slotOf);
  return {
    kind: "rows",
    run: (run, goOn) => {
      const { cells } = run;
      for (const { id, slot } of handedOver) run.outer.set(id, cells[slot]![0]!);
      return after(searched(run, match, table, soughtFor), (found) => {
        if (found.length === 0) return run.runSteps(made, 0, goOn);
        return eachRow(found, slots, run, () => run.runSteps(onMatch, 0, goOn));
      });
    },
  };
}

/** What a MERGE finds for the row. */
function searched(
  { row, context, writer }: StepRun,
  match: Open,
  program: MergeTableProgram | null,
  soughtFor: SoughtFor,
): readonly Value[][] | Promise<readonly Value[][]> {
  const search = () => {
    writer.flushFor(soughtFor(row, context));
    const found: Value[][] = [];
    return after(allRows(match(context), found), () => found);
  };
  const table = program === null ? null : writer.mergeTable(program);
  if (!table?.pays) return search();
  if (!table.isBuilt) writer.flush();
  return after(table.build(context), (isThere) => (isThere ? table.find(context) : search()));
}

/** The query's writers share this one's: all know what has changed, so that rows show it at the end. */
function callQuery({ match, columns, optional }: CallStep, slotOf: SlotOf, open: Open): RunStep {
  const slots = columns?.map(({ id }) => slotOf(id)) ?? null;
  const handedOver = [...outerColumnsOf(match)].flatMap((id) => (slotOf(id) >= 0 ? [{ id, slot: slotOf(id) }] : []));
  const nulls = columns?.map(() => null) ?? [];
  return {
    kind: "rows",
    run: (run, goOn) => {
      const { cells, context, writer, outer } = run;
      writer.flush();
      for (const { id, slot } of handedOver) outer.set(id, cells[slot]![0]!);
      const found: Value[][] = [];
      const put = writer.aside();
      const answered = () => {
        put();
        if (slots === null) {
          run.renew(true);
          return goOn();
        }
        if (optional && found.length === 0) found.push(nulls);
        return eachRow(found, slots, run, goOn);
      };
      return after(
        allRows(open({ ...context, outer: new Map(outer), edgeSources: undefined, graphWriter: writer }), found),
        answered,
      );
    },
  };
}

function eachRow(
  rows: readonly Value[][],
  slots: readonly number[],
  run: StepRun,
  goOn: () => void | Promise<void>,
): void | Promise<void> {
  const from = (start: number): void | Promise<void> => {
    for (let i = start; i < rows.length; i++) {
      slots.forEach((slot, c) => {
        run.cells[slot]![0] = rows[i]![c]!;
      });
      run.renew(true);
      const pending = goOn();
      if (pending !== undefined) return pending.then(() => from(i + 1));
    }
  };
  return from(0);
}

function allRows(operator: Operator, rows: Value[][]): void | Promise<void> {
  return drainAndClose(operator, (batch) => {
    for (let row = 0; row < batch.length; row++) rows.push(batch.columns.map((column) => column[row]!));
  });
}
