import type { DdlCommand, RelationName } from "../../catalog/ddl-command.js";
import type { ViewQuery } from "../../catalog/kept-query.js";
import { ViewMakersRights } from "../../catalog/rights.js";
import { isTemporarySchema } from "../../catalog/schema.js";
import type { ViewColumn, ViewDef } from "../../catalog/view.js";
import { sqlError } from "../../protocol/errors.js";
import { displayName } from "../../query/expr/types.js";
import type { Plan } from "../../query/plan/plan.js";
import { modifiesData } from "../../query/plan/walk.js";
import type { CreateViewStatement, DropStatement } from "../parse/ast-definitions.js";
import type { QueryNode } from "../parse/ast-query.js";
import { type Binding, PLAIN_QUERY } from "./binding.js";
import type { BindEnvironment, BoundDdl } from "./bound-statement.js";
import { updatableColumns } from "./changed-relation.js";
import { newName } from "./names.js";
import { RelationRecorder } from "./relation-recorder.js";
import { checkedRights, refuseDenied } from "./relation-rights.js";
import { relationOf } from "./scope.js";
import { exactText } from "./stored-text.js";
import { viewOptions } from "./view-options.js";

export function bindCreateView(node: CreateViewStatement, binding: Binding): BoundDdl {
  const { position } = node;
  const { checkOption = node.checkOption } = viewOptions(node.options);
  // A name is looked at before the query.
  const given = newName(node.name, binding.env, node.persistence);
  const {
    query,
    columns,
    plan: stored,
  } = binding.within(makersEnvironment(binding.env), () => bindStoredQuery(node, "VIEW", binding));
  // A view goes with the temporary relations that it reads.
  const becomesTemporary =
    !isTemporarySchema(given.schema) && query.relations.some((relation) => isTemporarySchema(relation.schema));
  const { schema, name } = becomesTemporary ? newName(node.name, binding.env, "temporary") : given;
  const notices = becomesTemporary ? [`view "${name}" will be a temporary view`] : [];
  const draft = { id: 0, schema, name, columns, query, checkOption, createdAt: 0 };
  const updatable = updatableColumns(draft, binding);
  if (checkOption !== null && updatable === null) {
    throw sqlError("0A000", "WITH CHECK OPTION is supported only on automatically updatable views", { position });
  }
  const before = binding.env.catalog.view(schema, name);
  if (before !== null && node.replace) checkReplacement(before, columns);
  const { replace } = node;
  const view = { schema, name, replace, columns, query, checkOption, updatable };
  return { kind: "ddl", command: { kind: "create view", ...view, notices }, stored };
}

function makersEnvironment(env: BindEnvironment): BindEnvironment {
  const rights = checkedRights(env);
  return rights === null ? env : { ...env, rights: new ViewMakersRights(rights.catalog, rights.acting) };
}

interface StoredQueryNode {
  readonly query: QueryNode;
  readonly columns: readonly string[];
  readonly text: string;
  readonly position: number;
}

export interface StoredQuery {
  readonly query: ViewQuery;
  readonly columns: readonly ViewColumn[];
  readonly plan: Plan;
}

/** The query of a CREATE statement with its column names and what it depends on. `what`: "VIEW", for messages. */
export function bindStoredQuery(node: StoredQueryNode, what: string, binding: Binding): StoredQuery {
  const { position, text } = node;
  const relations = new RelationRecorder(binding.env.catalog);
  const env = { ...binding.env, catalog: relations.catalog };
  const source = binding.within(env, () => binding.query(node.query, null, PLAIN_QUERY));
  const plan: Plan = Object.freeze({ ...binding.commonTables.place(source.plan), columns: source.columns });
  refuseDenied(plan, binding);
  if (binding.parameterTypes().length > 0) throw sqlError("42P02", "there is no parameter $1", { position });
  if (modifiesData(plan)) {
    throw sqlError("0A000", "views must not contain data-modifying statements in WITH", { position });
  }
  const columns = namedColumns(node.columns, source.columns, what, position);
  const { searchPath } = binding.env;
  const kept = exactText(text, { tree: node.query, origin: position }, binding.noted);
  return { query: { ...kept, searchPath, relations: relations.list([plan]) }, columns, plan };
}

/** Output columns under the names that a CREATE statement lists. Throws 42601, 42701. */
export function namedColumns(
  names: readonly string[],
  outputs: readonly ViewColumn[],
  what: string,
  position: number,
): readonly ViewColumn[] {
  if (names.length > outputs.length) {
    const message =
      what === "VIEW" ? "CREATE VIEW specifies more column names than columns" : "too many column names were specified";
    throw sqlError("42601", message, { position });
  }
  const columns = outputs.map(({ name, type }, i) => ({ name: names[i] ?? name, type }));
  columns.forEach(({ name }, i) => {
    if (columns.findIndex((other) => other.name === name) < i) {
      throw sqlError("42701", `column "${name}" specified more than once`, { position });
    }
  });
  return columns;
}

/** CREATE OR REPLACE may only add columns at the end. Throws 42P16. */
function checkReplacement(before: ViewDef, columns: readonly ViewColumn[]): void {
  if (columns.length < before.columns.length) throw sqlError("42P16", "cannot drop columns from view");
  before.columns.forEach(({ name, type }, i) => {
    const next = columns[i]!;
    if (next.name !== name) {
      throw sqlError("42P16", `cannot change name of view column "${name}" to "${next.name}"`, {
        hint: "Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.",
      });
    }
    if (displayName(next.type) !== displayName(type)) {
      const message = `cannot change data type of view column "${name}" from ${displayName(type)} to ${displayName(next.type)}`;
      throw sqlError("42P16", message);
    }
  });
}

export function bindDropViews(node: DropStatement, binding: Binding): DdlCommand {
  const { catalog, searchPath } = binding.env;
  const views = node.names.map((given): RelationName => {
    const { schema, name } = relationOf(given);
    const found = searchPath.find((path) => catalog.view(path, name) !== null || catalog.table(path, name) !== null);
    return { schema: schema ?? found ?? searchPath[0]!, name, position: given.position };
  });
  const { ifExists, cascade } = node;
  return { kind: "drop views", views, materialized: node.object === "materialized view", ifExists, cascade };
}
