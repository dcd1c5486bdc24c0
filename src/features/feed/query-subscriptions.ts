/**
 * Subscriptions to queries: finds or makes the group of a query, sends its answer to whoever subscribes, and has them
 * join. Called by subscriptions.ts; owns the groups.
 */

import type { ReplySink } from "../../actor/reply-sink.js";
import type { TableDef } from "../../catalog/table.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { administers, type CallerBounds, callerBounds } from "../../protocol/identity.js";
import type { Plan } from "../../query/plan/plan.js";
import { tablesOf } from "../../query/plan/read-tables.js";
import { noteReads } from "../../session/data-audit.js";
import { convertParameters } from "../../session/run-program.js";
import { Session } from "../../session/session.js";
import { displayedColumns, type RowCollector } from "../../session/sql-result.js";
import type { StatementPlan } from "../../session/statement-plan.js";
import type { Client, Language, ParameterValues } from "../../session/statement-run.js";
import type { Tenant } from "../../session/tenant.js";
import { jsonToCompactText } from "../../values/json-text.js";
import type { Value } from "../../values/values.js";
import { AggregateDelta } from "./aggregate-delta.js";
import type { AnswerDelta, AnswerRows } from "./answer-delta.js";
import type { ChangeForm } from "./change-form.js";
import type { FollowingRequest, LiveOutput, SubscriptionHost, Way } from "./contract.js";
import { QueryDelta } from "./query-delta.js";
import { QueryGroup } from "./query-group.js";
import { conditionContext } from "./row-program.js";

export interface QueryRequest {
  readonly sql: string;
  readonly parameters?: ParameterValues;
  readonly params?: ParameterValues;
  readonly language?: Language;
}

/** Whose query it is. */
interface Owner {
  /** The tenant's number. */
  readonly number: number;
  readonly tenantId: string;
  readonly username: string;
  /** Of the tenant: a superuser. */
  readonly administrator: boolean;
  readonly bounds: CallerBounds;
}

/** Rows of one message of an answer. */
const ROWS_AT_ONCE = 500;

interface Prepared {
  readonly plan: StatementPlan;
  readonly values: readonly Value[];
  readonly delta: AnswerDelta | null;
  readonly tables: readonly TableDef[];
}

export class QuerySubscriptions {
  private readonly groups = new Map<string, QueryGroup>();
  /** The tables that a group's query reads. */
  private readonly read = new WeakMap<QueryGroup, readonly TableDef[]>();

  constructor(
    private readonly partition: SubscriptionHost,
    private readonly turnsOf: (tenant: number) => Client,
  ) {}

  /**
   * The group of those that began by the same roles, with a first answer. Throws an error that says what is wrong with
   * the query.
   */
  async groupOf(
    request: FollowingRequest,
    query: QueryRequest,
    form: ChangeForm,
    output: LiveOutput,
    began: number,
  ): Promise<QueryGroup> {
    const { username, tenantId } = request.head;
    const administrator = administers(request.head);
    const bounds = callerBounds(request.head);
    const owner: Owner = { number: request.tenant.number, tenantId, username, administrator, bounds };
    const params = paramsOf(query);
    const key = jsonToCompactText([
      owner.number,
      began,
      username,
      administrator,
      bounds,
      query.sql,
      query.language ?? "",
      params,
      form.name,
    ]);
    let group = this.groups.get(key);
    if (group === undefined) {
      group = this.newGroup(key, owner, query, params, form, output);
      this.groups.set(key, group);
    }
    // Who joins a group reads what it has read.
    noteReads(this.read.get(group) ?? [], request.audited());
    await group.ready();
    return group;
  }

  private newGroup(
    key: string,
    owner: Owner,
    query: QueryRequest,
    params: ParameterValues,
    form: ChangeForm,
    output: LiveOutput,
  ): QueryGroup {
    const { partition } = this;
    const { number, tenantId } = owner;
    const prepared = this.prepare(owner, query, params);
    const { delta, tables, plan } = prepared;
    const watches = this.watch(partition.tenant(number), tables);
    const { queryRowsMax, queryIntervalMs } = partition.config.changes;
    const columns = plan.shape!.outputs;
    const bounds = { rowsMax: queryRowsMax, intervalMs: queryIntervalMs };
    const options = { columns, delta, isOrdered: isOrdered(plan), watches, ...bounds };
    const group: QueryGroup = new QueryGroup(output.newChannel(), form, options, {
      withContext: (work) => {
        const tx = partition.shard.begin({ readOnly: true });
        try {
          return work(conditionContext(partition.tenant(number), tenantId, tx));
        } finally {
          tx.rollback();
        }
      },
      run: () =>
        delta === null ? this.runAll(owner, query, params, prepared) : this.runDelta(owner, delta, prepared, group),
      publish: (channel, sequence, message) => output.publish(channel, sequence, message),
      failed: (error) => output.failed(error),
      empty: () => {
        if (this.groups.get(key) === group) this.groups.delete(key);
      },
      after: (ms, work) => {
        setTimeout(work, ms).unref();
      },
    });
    this.read.set(group, tables);
    return group;
  }

  private prepare(owner: Owner, query: QueryRequest, params: ParameterValues): Prepared {
    const tenant = this.partition.tenant(owner.number);
    const session = this.session(owner);
    const tx = this.partition.shard.begin({ readOnly: true });
    try {
      const text = { sql: query.sql, params, ...(query.language !== undefined && { language: query.language }) };
      const plan = session.planFor(text, tenant.catalog.view(tx), tx);
      const { bound } = plan;
      if (bound.kind !== "query" || !bound.readOnly || !bound.returnsRows) {
        throw new DbError("invalid_request", "Only a query that changes nothing can be subscribed to.", {
          field: "sql",
        });
      }
      if (bound.callsRoutines) {
        throw sqlError("0A000", "a query that calls functions made by statements cannot be subscribed to");
      }
      const values = convertParameters(plan, params);
      // Who may not see all has the whole query asked again: a changed row by itself knows nobody's rights.
      const delta = bound.command === "select" && !session.names.hidesRows(tx) ? deltaOf(bound.plan, values) : null;
      return { plan, values, delta, tables: [...tablesOf(bound.plan).values()] };
    } finally {
      tx.rollback();
    }
  }

  private session({ number, username, tenantId, administrator, bounds }: Owner): Session {
    const options = {
      ...bounds,
      isolation: null,
      readOnly: true,
      user: username,
      administrator,
      tenantName: tenantId,
      control: "routes",
      begins: true,
    } as const;
    return new Session(this.partition.tenant(number), options);
  }

  private watch(tenant: Tenant, tables: readonly TableDef[]) {
    const tx = this.partition.shard.begin({ readOnly: true });
    try {
      const catalog = tenant.catalog.view(tx);
      return tables.map((table) => this.partition.feed.watch(tenant.number, table, catalog));
    } finally {
      tx.rollback();
    }
  }

  private async runAll(owner: Owner, query: QueryRequest, params: ParameterValues, { plan }: Prepared) {
    const client = this.turnsOf(owner.number);
    await client.yieldTurn();
    const rows: AnswerRows = new Map();
    const keys = plan.bound.kind === "query" ? keyPositions(plan.bound.plan) : null;
    const micros = this.partition.shard.lastMicros;
    const session = this.session(owner);
    const text = { sql: query.sql, params, ...(query.language !== undefined && { language: query.language }) };
    const maxRows = this.partition.config.changes.queryRowsMax + 1;
    await session.execute({ ...text, maxRows, collector: collecting(rows, keys), request: client }, (tx) =>
      tx.rollback(),
    );
    // Only what is on disk may be reported.
    await this.partition.durable();
    return { rows, micros };
  }

  private async runDelta(owner: Owner, delta: AnswerDelta, { values }: Prepared, group: QueryGroup) {
    const client = this.turnsOf(owner.number);
    await client.yieldTurn();
    const { shard } = this.partition;
    const micros = shard.lastMicros;
    const tx = shard.begin({ readOnly: true });
    try {
      const tenant = this.partition.tenant(owner.number);
      const context = { ...conditionContext(tenant, owner.tenantId, tx), params: values, ...client };
      const rows = await delta.whole(context, this.partition.config.changes.queryRowsMax, group.write);
      await this.partition.durable();
      return { rows, micros };
    } finally {
      tx.rollback();
    }
  }
}

/** Sends the answer and the changes since; when it resolves, nothing is missing at that moment. */
export async function sendAnswer(group: QueryGroup, sink: ReplySink, way: Way, checkpoint: () => void): Promise<void> {
  const columns = JSON.stringify(displayedColumns(group.columns));
  const first = group.answer();
  const mode = group.isIncremental ? "incremental" : "rerun";
  const about = `{"columns":${columns},"mode":"${mode}","sequence":${first.micros}}`;
  const send = (type: string, json: string, micros: number) =>
    sink.write(way.form.whole(way.id, way.form.shared(type, json, micros)));
  checkpoint();
  await send("subscribed", about, first.micros);
  let sent = first.rows;
  const rows = [...sent.values()];
  for (let from = 0; from === 0 || from < rows.length; from += ROWS_AT_ONCE) {
    const part = rows.slice(from, from + ROWS_AT_ONCE).join(",");
    await send("result", `{"rows":[${part}],"done":${from + ROWS_AT_ONCE >= rows.length}}`, first.micros);
    checkpoint();
  }
  for (;;) {
    const now = group.answer();
    const json = group.changesJson(group.since(sent, now.rows), now.micros);
    if (json === null) return;
    checkpoint();
    sent = now.rows;
    await send("changes", json, now.micros);
    checkpoint();
  }
}

/** Its rows come in an order that the query says. */
function isOrdered({ bound }: StatementPlan): boolean {
  let plan = bound.kind === "query" ? bound.plan : null;
  while (plan?.kind === "project" || plan?.kind === "limit") plan = plan.input;
  return plan?.kind === "sort" || plan?.kind === "topn";
}

/** Null: the query has to run again. */
function deltaOf(plan: Plan, values: readonly Value[]): AnswerDelta | null {
  return QueryDelta.of(plan, values) ?? AggregateDelta.of(plan, values);
}

function paramsOf({ parameters, params }: QueryRequest): ParameterValues {
  if (parameters !== undefined && params !== undefined) {
    throw new DbError("invalid_request", 'Send "parameters" or "params", not both.', { field: "params" });
  }
  return parameters ?? params ?? [];
}

/** Rows by the values at `keys`; without, by all of the row and how often it has come. */
function collecting(rows: AnswerRows, keys: readonly number[] | null): RowCollector {
  return ({ json: writers }) => ({
    append: ({ columns }, count) => {
      let bytes = 0;
      for (let r = 0; r < count; r++) {
        const cells = writers.map((write, c) => {
          const value = columns[c]![r]!;
          return value === null ? "null" : write(value);
        });
        const text = `[${cells.join(",")}]`;
        let key = keys === null ? text : keys.map((position) => cells[position]).join();
        for (let n = 1; rows.has(key); n++) key = `${text}#${n}`;
        rows.set(key, text);
        bytes += 2 * text.length;
      }
      return bytes;
    },
  });
}

/** Columns of the answer that tell its rows apart: those that are grouped by, or the key of the only table. */
function keyPositions(plan: Plan): readonly number[] | null {
  const ids = keyIds(plan);
  if (ids === null) return null;
  const positions = ids.map((id) => plan.columns.findIndex((column) => column.id === id));
  return positions.includes(-1) ? null : positions;
}

function keyIds(plan: Plan): readonly number[] | null {
  switch (plan.kind) {
    case "filter":
    case "sort":
    case "limit":
    case "topn":
      return keyIds(plan.input);
    case "project": {
      const below = keyIds(plan.input);
      if (below === null) return null;
      return below.map((id) => {
        const at = plan.exprs.findIndex((expr) => expr.kind === "column" && expr.id === id);
        return at === -1 ? -1 : plan.columns[at]!.id;
      });
    }
    case "aggregate":
      return plan.grouping === undefined ? plan.columns.slice(0, plan.groups.length).map(({ id }) => id) : null;
    case "scan": {
      const { primaryKey } = plan.table;
      if (primaryKey === null) return null;
      return primaryKey.map((id) => plan.columns[plan.source.indexOf(id)]?.id ?? -1);
    }
    default:
      return null;
  }
}
