/**
 * Runs a statement of Cypher with `CALL { … } IN TRANSACTIONS OF n ROWS`: the clauses before it give rows, each n of
 * which its query gets in a transaction of its own, and then the clauses after it go on with what came of all of them.
 * Each part is a statement, which reads the rows from a parameter. Called by the session, outside of a transaction.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { InTransactions } from "../cypher/bind/binding.js";
import type { CallTransactions, Clause, Expr, Query, SubqueryCallClause } from "../cypher/parse/ast.js";
import { parseCypher } from "../cypher/parse/parse.js";
import { printClauses } from "../cypher/parse/print.js";
import { printVariable } from "../cypher/parse/print-expr.js";
import { DbError, sqlError } from "../protocol/errors.js";
import { RESULT_BYTES_MAX } from "../protocol/limits.js";
import { sumOfBytes } from "../query/exec/value-bytes.js";
import type { Batch } from "../query/expr/expr.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { Variant } from "../values/variant.js";
import { isIntegerValue } from "../values/variant.js";
import { clausesAtOnce } from "./rows-at-once.js";
import type { GraphStats, Outcome, RowCollector } from "./sql-result.js";
import type { StatementPlan } from "./statement-plan.js";
import type { StatementRun } from "./statement-run.js";

const ROWS_USUAL = 1000;
/** Before a part runs again the first time; then twice as long each time. */
const RETRY_MS = 10;
/** Names that no client gives. */
const ROWS = "rows of the call";
const ROW = "`row of the call`";

export type Commit = (tx: ShardTransaction, outcome: Outcome) => void;

interface PartSession {
  execute(run: StatementRun, commit: Commit): Outcome | Promise<Outcome>;
}

/** Runs a part in a transaction of its own, which is committed. */
interface PartHost {
  run(part: StatementRun): Promise<Outcome>;
}

type Row = readonly Variant[];

/** What is done with an open transaction. */
export const partsInside = (): DbError =>
  sqlError("25001", "CALL IN TRANSACTIONS commits by itself and cannot run inside a transaction");

/** `session`: one of its own. `commit` commits the last part, with the outcome of all. */
export async function runInParts(
  { inTransactions, graph }: Pick<StatementPlan, "inTransactions" | "graph">,
  run: StatementRun,
  session: PartSession,
  commit: Commit,
): Promise<Outcome> {
  if (run.request.commitPart === undefined) throw partsInside();
  const parts = inTransactions!;
  const { body } = parseCypher(run.sql);
  const { clauses } = (body as Query).parts[0]!;
  const at = clauses.findIndex(({ position }) => position === parts.position);
  const call = clauses[at] as SubqueryCallClause;
  const after = clauses.slice(at + 1);
  const part = new Parts(parts, { ...run, graph: graph!.name });
  const host: PartHost = {
    run: async (text) => session.execute(text, (tx) => run.request.commitPart?.(tx)),
  };
  const rows = await part.before(clauses.slice(0, at), host);
  const stats: { sum: GraphStats | null } = { sum: null };
  const done = await part.call(call, rows, after.length > 0, host, stats);
  const whole = (outcome: Outcome): Outcome => ({ ...outcome, stats: sumOfStats(stats.sum, outcome.stats) });
  const last = part.after(after, call.transactions!, done);
  return whole(await session.execute(last, (tx, outcome) => commit(tx, whole(outcome))));
}

class Parts {
  private readonly names: readonly string[];

  constructor(
    private readonly parts: InTransactions,
    private readonly statement: StatementRun,
  ) {
    this.names = parts.scope.map(({ name }) => name);
  }

  /** The rows that the call gets. */
  async before(clauses: readonly Clause[], host: PartHost): Promise<readonly Row[]> {
    if (clauses.length === 0) return [[]];
    const kept = new KeptRows();
    // Without variables the rows are only counted.
    const items = this.names.length === 0 ? "null AS `nothing`" : this.returned([]);
    await host.run(this.textRun(`${printClauses(clauses)} RETURN ${items}`, [], kept.collector));
    return kept.rows;
  }

  /** Runs the query for all rows. What it answers is kept if it `isRead`. */
  async call(
    call: SubqueryCallClause,
    rows: readonly Row[],
    isRead: boolean,
    host: PartHost,
    stats: { sum: GraphStats | null },
  ): Promise<readonly Row[]> {
    const { onError, retrySeconds, rows: size, status } = call.transactions!;
    const count = this.numberOf(size, ROWS_USUAL, "OF … ROWS");
    const retryMs = retrySeconds === null ? 0 : this.numberOf(retrySeconds, 0, "RETRY FOR … SECONDS") * 1000;
    const { outputs } = this.parts;
    const atOnce = outputs.length === 0 ? clausesAtOnce(call, this.parts.scope) : null;
    const bare = printClauses(atOnce ?? [{ ...call, transactions: null }]);
    const text = `${this.begun(this.names)} ${bare}${isRead ? ` RETURN ${this.returned(outputs)}` : ""}`;
    const answers: Row[] = [];
    let failure: string | null = null;
    for (let from = 0; from < rows.length; from += count) {
      const some = rows.slice(from, from + count);
      const started: boolean = failure === null || onError === "continue";
      const kept = new KeptRows();
      const error: DbError | null = started
        ? await this.retried(retryMs, () => this.batch(text, some, kept, host, stats))
        : null;
      if (error !== null && onError === "fail") throw error;
      failure = error?.message ?? failure;
      if (!isRead) continue;
      const committed = started && error === null;
      const told = new Map<string, Variant>([
        ["started", started],
        ["committed", committed],
        ["transactionId", started ? `part-${from / count + 1}` : null],
        ["errorMessage", error?.message ?? null],
      ]);
      const given = committed ? this.withoutExtra(kept.rows) : some.map((row) => [...row, ...outputs.map(() => null)]);
      for (const row of given) answers.push(status === null ? row : [...row, told]);
    }
    return answers;
  }

  private withoutExtra(rows: readonly Row[]): readonly Row[] {
    const width = this.names.length + this.parts.outputs.length;
    return rows.map((row) => (row.length > width ? row.slice(0, width) : row));
  }

  /** Runs a part again, for so long, while it loses against other transactions. */
  private async retried(ms: number, run: () => Promise<DbError | null>): Promise<DbError | null> {
    const until = performance.now() + ms;
    for (let waitMs = RETRY_MS; ; waitMs *= 2) {
      const error = await run();
      if (error?.code !== "serialization_failure" || performance.now() + waitMs > until) return error;
      await sleep(waitMs);
    }
  }

  private async batch(
    text: string,
    rows: readonly Row[],
    kept: KeptRows,
    host: PartHost,
    stats: { sum: GraphStats | null },
  ): Promise<DbError | null> {
    this.statement.request.checkpoint();
    try {
      const outcome = await host.run(this.textRun(text, rows, kept.collector));
      stats.sum = sumOfStats(stats.sum, outcome.stats);
      return null;
    } catch (error) {
      if (error instanceof DbError && !NEVER_PASSED_OVER.has(error.code)) return error;
      throw error;
    }
  }

  /** The statement that goes on with what came of the rows. */
  after(clauses: readonly Clause[], { status }: CallTransactions, rows: readonly Row[]): StatementRun {
    if (clauses.length === 0) return { ...this.textRun("UNWIND [] AS x FINISH", [], this.statement.collector) };
    const names = [...this.names, ...this.parts.outputs, ...(status === null ? [] : [status.name])];
    return this.textRun(`${this.begun(names)} ${printClauses(clauses)}`, rows, this.statement.collector);
  }

  private textRun(sql: string, rows: readonly Row[], collector: RowCollector): StatementRun {
    const { kept: _, planned: __, params, ...rest } = this.statement;
    const given = Array.isArray(params) ? {} : params;
    const maxRows = collector === this.statement.collector ? this.statement.maxRows : Number.MAX_SAFE_INTEGER;
    return { ...rest, sql, language: "cypher", params: { ...given, [ROWS]: rows }, collector, maxRows };
  }

  /** The rows of the parameter as variables. Nodes come by their ids, so that they are as they are now. */
  private begun(names: readonly string[]): string {
    const nodes = this.parts.scope.filter(({ isNode }) => isNode).map(({ name }) => name);
    const idOf = (name: string) => printVariable(`id of ${name}`);
    const items = names.map((name, i) => `${ROW}[${i}] AS ${nodes.includes(name) ? idOf(name) : printVariable(name)}`);
    const found = nodes.map(
      (name) => ` OPTIONAL MATCH (${printVariable(name)}) WHERE id(${printVariable(name)}) = ${idOf(name)}`,
    );
    const all = names.map(printVariable).join(", ");
    const given = items.length === 0 ? "" : ` WITH ${items.join(", ")}`;
    return `UNWIND $\`${ROWS}\` AS ${ROW}${given}${found.join("")}${nodes.length === 0 ? "" : ` WITH ${all}`}`;
  }

  private returned(outputs: readonly string[]): string {
    const scope = this.parts.scope.map(({ name, isNode }) => {
      const variable = printVariable(name);
      return isNode ? `id(${variable}) AS ${variable}` : variable;
    });
    const all = [...scope, ...outputs.map(printVariable)];
    return all.length === 0 ? "null AS `nothing`" : all.join(", ");
  }

  private numberOf(expr: Expr | null, usual: number, of: string): number {
    const { params } = this.statement;
    let value: unknown = usual;
    if (expr?.kind === "integer") value = expr.value;
    else if (expr?.kind === "parameter")
      value = Array.isArray(params) ? null : (params as Record<string, unknown>)[expr.name];
    else if (expr !== null) throw sqlError("0A000", `${of} takes a number or a parameter`);
    if (isIntegerValue(value) && value > 0) return Number(value);
    throw sqlError("22023", `${of} needs a whole number above 0`);
  }
}

/** The client wants no more of the statement. */
const NEVER_PASSED_OVER: ReadonlySet<string> = new Set(["request_timeout", "budget_exhausted"]);

/** Rows as variants, within a bound. */
class KeptRows {
  readonly rows: Row[] = [];
  private bytes = 0;

  /** Asked for each time that the statement runs: what it gave when it lost does not count. */
  readonly collector: RowCollector = () => {
    this.rows.length = 0;
    this.bytes = 0;
    return { append: this.append };
  };

  private readonly append = (batch: Batch, count: number): number => {
    let bytes = 0;
    for (let i = 0; i < count; i++) {
      const row = batch.columns.map((column) => column[i] as Variant);
      bytes += sumOfBytes(row as never, row.length);
      this.rows.push(row);
    }
    this.bytes += bytes;
    if (this.bytes > RESULT_BYTES_MAX) {
      throw sqlError("54000", "the rows before CALL IN TRANSACTIONS are too large: read fewer columns or fewer rows");
    }
    return bytes;
  };
}

function sumOfStats(a: GraphStats | null, b: GraphStats | null): GraphStats | null {
  if (a === null || b === null) return a ?? b;
  const names = Object.keys(a) as (keyof GraphStats)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as unknown as GraphStats;
}
