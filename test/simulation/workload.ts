/**
 * What clients do to one tenant: lists that are kept as rows, documents, rows with vectors and nodes with
 * relationships, to which transactions append values and which they read. Each value is also a row of a journal, a word
 * in a text and a number in a count, so that models and their indexes can be held against each other.
 */
import type { Identity } from "../../src/protocol/identity.js";
import type { Ending, Operation, Transaction } from "./history.js";
import type { SeededRandom } from "./seeded-random.js";
import type { Outcome, Reply, SimulatedNode } from "./simulated-node.js";

export const MODELS = ["row", "doc", "vec", "node"] as const;
export type Model = (typeof MODELS)[number];
const KEYS = 3;
/** Rows of a bulk. */
export const BULK_ROWS = 1500;

export const LISTS: readonly { readonly model: Model; readonly k: number }[] = MODELS.flatMap((model) =>
  Array.from({ length: KEYS }, (_, k) => ({ model, k })),
);
export const listName = (model: Model, k: number): string => `${model}${k}`;

interface Statement {
  readonly sql: string;
  readonly parameters: object;
}

/** What a tenant's clients share. */
export class TenantWork {
  readonly transactions: Transaction[] = [];
  readonly bulks = new Map<number, Pick<Transaction, "began" | "ended" | "ending">>();
  readonly problems: string[] = [];
  private nextValue = 1;

  constructor(
    readonly node: SimulatedNode,
    readonly name: string,
    readonly identity: Identity,
  ) {}

  /** No other tenant's value is equal. */
  takeValue(): number {
    return this.nextValue++ * 10 + Number(this.identity.tenantNumber % 10);
  }

  call(
    endpoint: string,
    body?: object,
    options: { params?: string[]; idempotencyKey?: string; leavesAfterMs?: number; branch?: string | undefined } = {},
  ): Promise<Outcome> {
    return this.node.call({ endpoint, identity: this.identity, ...(body && { body }), ...options });
  }

  /** For what must succeed, when nothing is broken; where a part is still starting it is tried again. */
  async must(endpoint: string, body: object, params: string[] = []): Promise<Reply["body"]> {
    let last = "lost";
    for (let attempt = 0; attempt < 100; attempt++) {
      const outcome = await this.call(endpoint, body, { params });
      last = outcome === "lost" ? outcome : JSON.stringify(outcome.body);
      if (outcome !== "lost" && outcome.status < 300) return outcome.body.data;
      if (outcome !== "lost" && outcome.status !== 503 && outcome.status !== 409) {
        throw new Error(
          `${endpoint} ${JSON.stringify(body)} answered ${outcome.status}: ${JSON.stringify(outcome.body)}`,
        );
      }
      await this.node.loop.sleep(200);
    }
    throw new Error(`${endpoint} of tenant ${this.name} was never answered; the last try: ${last}`);
  }

  async rows(sql: string, parameters: object = []): Promise<unknown[][]> {
    return (await this.must("query.execute", { sql, parameters, max_rows: 100_000 })).rows;
  }

  async prepare(): Promise<void> {
    await this.rows("CREATE TABLE list_row (k integer PRIMARY KEY, v text NOT NULL, n integer NOT NULL)");
    await this.rows("CREATE INDEX list_row_n ON list_row (n)");
    await this.rows("CREATE TABLE list_vec (k integer PRIMARY KEY, v text NOT NULL, n integer NOT NULL, e vector(3))");
    await this.rows("CREATE INDEX list_vec_e ON list_vec USING hnsw (e vector_l2_ops)");
    await this.rows("CREATE INDEX list_vec_v ON list_vec USING text (v)");
    await this.rows("CREATE TABLE journal (x integer PRIMARY KEY, place text)");
    await this.rows("CREATE TABLE bulk (b integer, i integer)");
    await this.rows("CREATE INDEX bulk_b ON bulk (b)");
    await this.must("collections.create", {
      name: "list_doc",
      schema: {
        fields: [
          { name: "v", type: "string" },
          { name: "n", type: "integer" },
        ],
        indexes: [
          { name: "by_n", fields: ["n"], type: "btree" },
          { name: "by_v", fields: ["v"], type: "text" },
        ],
      },
    });
    await this.rows("CREATE INDEX FOR (l:List) ON (l.k)");
    for (let k = 0; k < KEYS; k++) {
      await this.rows("INSERT INTO list_row VALUES ($1, '', 0)", [k]);
      await this.rows("INSERT INTO list_vec VALUES ($1, '', 0, $2)", [k, [0, k, 0]]);
      await this.must("documents.insert", { id: `d${k}`, v: "", n: 0 }, ["list_doc"]);
      await this.rows("CREATE (:List {k: $k, v: '', n: 0})", { k });
    }
  }
}

export function readOf(model: Model, k: number): Statement {
  if (model === "node") return { sql: "MATCH (l:List {k: $k}) RETURN l.v AS v", parameters: { k } };
  if (model === "doc") return { sql: "SELECT v FROM list_doc WHERE id = $1", parameters: [`d${k}`] };
  return { sql: `SELECT v FROM list_${model} WHERE k = $1`, parameters: [k] };
}

function appendOf(model: Model, k: number, x: number): Statement {
  const word = ` x${x}`;
  if (model === "node") {
    const sql =
      "MATCH (l:List {k: $k}) SET l.v = l.v + $word, l.n = l.n + 1 CREATE (l)-[:HAS {x: $x}]->(:Val {x: $x}) RETURN l.n";
    return { sql, parameters: { k, x, word } };
  }
  if (model === "doc") {
    return { sql: "UPDATE list_doc SET v = v || $1, n = n + 1 WHERE id = $2", parameters: [word, `d${k}`] };
  }
  if (model === "vec") {
    return {
      sql: "UPDATE list_vec SET v = v || $1, n = n + 1, e = $2 WHERE k = $3",
      parameters: [word, [x % 97, k, x], k],
    };
  }
  return { sql: "UPDATE list_row SET v = v || $1, n = n + 1 WHERE k = $2", parameters: [word, k] };
}

const journalOf = (model: Model, k: number, x: number): Statement => ({
  sql: "INSERT INTO journal VALUES ($1, $2)",
  parameters: [x, listName(model, k)],
});

export function valuesOf(text: unknown): number[] {
  return String(text)
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => Number(word.slice(1)));
}

/** All models in one statement: as many values in the lists as in the journal, at every moment. */
const SUMS = `SELECT (SELECT count(*) FROM journal)::integer,
  ((SELECT sum(n) FROM list_row) + (SELECT sum(n) FROM list_doc) + (SELECT sum(n) FROM list_vec)
    + (SELECT sum(n) FROM cypher('MATCH (l:List) RETURN l.n') AS c(n integer)))::integer,
  (SELECT count(*) FROM cypher('MATCH (:List)-[h:HAS]->(:Val) RETURN h.x') AS c(x integer))::integer
    - (SELECT sum(n) FROM cypher('MATCH (l:List) RETURN l.n') AS c(n integer))::integer`;

/** What an answer says about whether its write was done. */
export function endingOf(outcome: Outcome, isDone: (status: number) => boolean): Ending {
  if (outcome === "lost") return "unknown";
  if (isDone(outcome.status)) return "committed";
  // 4xx and 507 promise that nothing was written; the gateway's own 503, without a body, never reached anybody.
  if (outcome.status < 500 || outcome.status === 507 || (outcome.status === 503 && outcome.body === null))
    return "aborted";
  return "unknown";
}

const isOk = (status: number): boolean => status < 300;

/** One client, which does one thing after the other. */
export class Client {
  isStopped = false;

  constructor(
    private readonly work: TenantWork,
    private readonly name: string,
    private readonly random: SeededRandom,
  ) {}

  async run(): Promise<void> {
    const { loop } = this.work.node;
    while (!this.isStopped) {
      await this.step();
      await loop.sleep(this.random.next() * 5);
    }
  }

  private step(): Promise<void> {
    const { random } = this;
    const dice = random.next();
    if (dice < 0.5) return this.interactive();
    if (dice < 0.7) return this.batch();
    if (dice < 0.85) return this.single();
    if (dice < 0.92) return this.sums();
    if (dice < 0.95) return this.search();
    if (dice < 0.97) return this.define();
    return this.bulk();
  }

  private begin(): Transaction {
    const { transactions, node } = this.work;
    const id = transactions.length + 1;
    const one: Transaction = {
      id,
      client: this.name,
      began: node.loop.now,
      ended: 0,
      ending: "unknown",
      operations: [],
    };
    transactions.push(one);
    return one;
  }

  private end(one: Transaction, ending: Ending): void {
    one.ended = this.work.node.loop.now;
    one.ending = ending;
  }

  /** A 500 is nobody's fault but ours. */
  private judge(outcome: Outcome, what: string): void {
    if (outcome === "lost") return;
    if (outcome.status === 500) this.work.problems.push(`${what} answered 500: ${JSON.stringify(outcome.body)}`);
    const code = outcome.body?.error?.code;
    if (outcome.status === 400 && code !== "transaction_aborted") {
      this.work.problems.push(`${what} answered 400: ${JSON.stringify(outcome.body)}`);
    }
  }

  private noteRead(one: Transaction, model: Model, k: number, outcome: Reply): void {
    const rows = outcome.body.data.rows;
    if (rows.length !== 1)
      this.work.problems.push(`${listName(model, k)} of ${this.work.name} has ${rows.length} rows`);
    else one.operations.push({ kind: "read", key: listName(model, k), list: valuesOf(rows[0][0]) });
  }

  private async interactive(): Promise<void> {
    const { work, random } = this;
    const one = this.begin();
    const begun = await work.call("transactions.begin", {});
    if (begun === "lost" || !isOk(begun.status)) return this.end(one, "aborted");
    const id = begun.body.data.id as string;
    const execute = ({ sql, parameters }: Statement): Promise<Outcome> =>
      work.call("transactions.execute", { sql, parameters }, { params: [id] });
    for (let count = random.between(1, 4); count > 0; count--) {
      const { model, k } = random.pick(LISTS);
      const isAppend = random.chance(0.55);
      const x = isAppend ? work.takeValue() : 0;
      const statements = isAppend ? [appendOf(model, k, x), journalOf(model, k, x)] : [readOf(model, k)];
      if (isAppend) one.operations.push({ kind: "append", key: listName(model, k), value: x });
      for (const statement of statements) {
        const outcome = await execute(statement);
        this.judge(outcome, statement.sql);
        // Without its commit nothing of it may ever be there.
        if (outcome === "lost" || !isOk(outcome.status)) return this.end(one, "aborted");
        if (!isAppend) this.noteRead(one, model, k, outcome);
      }
    }
    if (random.chance(0.08)) {
      await work.call("transactions.rollback", {}, { params: [id] });
      return this.end(one, "aborted");
    }
    const committed = await work.call("transactions.commit", {}, { params: [id], ...this.leaving() });
    this.judge(committed, "commit");
    this.end(one, endingOf(committed, isOk));
  }

  /** Now and then a client does not wait for the answer. */
  private leaving(): { leavesAfterMs?: number } {
    return this.random.chance(0.04) ? { leavesAfterMs: this.random.next() * 3 } : {};
  }

  private async batch(): Promise<void> {
    const { work, random } = this;
    const one = this.begin();
    const statements: Statement[] = [];
    const reads: { at: number; model: Model; k: number }[] = [];
    for (let count = random.between(1, 3); count > 0; count--) {
      const { model, k } = random.pick(LISTS);
      if (random.chance(0.4)) {
        reads.push({ at: statements.length, model, k });
        statements.push(readOf(model, k));
        one.operations.push({ kind: "read", key: "", list: [] });
        continue;
      }
      const x = work.takeValue();
      one.operations.push({ kind: "append", key: listName(model, k), value: x });
      statements.push(appendOf(model, k, x), journalOf(model, k, x));
    }
    const outcome = await work.call("query.batch", { statements, transactional: true }, this.leaving());
    this.judge(outcome, JSON.stringify(statements));
    const places = one.operations.flatMap((operation, i) => (operation.kind === "read" ? [i] : []));
    const ending = endingOf(outcome, isOk);
    if (ending === "committed") {
      const { results } = (outcome as Reply).body.data;
      for (const [i, { at, model, k }] of reads.entries()) {
        const list = valuesOf(results[at].data.rows[0][0]);
        one.operations[places[i]!] = { kind: "read", key: listName(model, k), list };
      }
    } else {
      const appends = one.operations.filter(({ kind }) => kind === "append");
      one.operations.splice(0, one.operations.length, ...(appends as Operation[]));
    }
    this.end(one, ending);
  }

  /** A statement by itself, sent again under its key until somebody knows what became of it. */
  private async single(): Promise<void> {
    const { work, random } = this;
    const one = this.begin();
    const { model, k } = random.pick(LISTS);
    if (random.chance(0.6)) {
      const outcome = await work.call("query.execute", readOf(model, k));
      this.judge(outcome, "read");
      if (outcome !== "lost" && isOk(outcome.status)) this.noteRead(one, model, k, outcome);
      return this.end(one, outcome !== "lost" && isOk(outcome.status) ? "committed" : "aborted");
    }
    const x = work.takeValue();
    const key = listName(model, k);
    one.operations.push({ kind: "append", key, value: x });
    const statements = [appendOf(model, k, x), journalOf(model, k, x)];
    const idempotencyKey = `${this.name}-${x}`;
    let ending: Ending = "unknown";
    for (let attempt = 0; attempt < 6 && ending === "unknown"; attempt++) {
      if (attempt > 0) await work.node.loop.sleep(random.next() * 300);
      const outcome = await work.call(
        "query.batch",
        { statements, transactional: true },
        { idempotencyKey, ...this.leaving() },
      );
      this.judge(outcome, "a statement with a key");
      const now = endingOf(outcome, isOk);
      // Of an attempt after one without an answer a refusal says nothing about that one, unless it was looked up.
      if (now === "committed" || attempt === 0) ending = now;
    }
    this.end(one, ending);
  }

  private async sums(): Promise<void> {
    const outcome = await this.work.call("query.execute", { sql: SUMS });
    this.judge(outcome, "sums");
    if (outcome === "lost" || !isOk(outcome.status)) return;
    const [journal, lists, missing] = outcome.body.data.rows[0];
    if (journal !== lists || missing !== 0) {
      this.work.problems.push(
        `at ${this.work.node.loop.now}: ${journal} values in the journal, ${lists} in the lists, ${missing} relationships too many`,
      );
    }
  }

  /** By text and vector, from indexes that are being changed. */
  private async search(): Promise<void> {
    const k = this.random.between(0, KEYS - 1);
    const sql = "SELECT k, e FROM list_vec ORDER BY e <-> $1 LIMIT 3";
    const outcome = await this.work.call("query.execute", { sql, parameters: [[0, k, 50]] });
    this.judge(outcome, sql);
    if (outcome !== "lost" && isOk(outcome.status) && outcome.body.data.rows.length !== KEYS) {
      this.work.problems.push(`a search for ${KEYS} vectors found ${outcome.body.data.rows.length}`);
    }
  }

  /** An index comes or goes while others write. */
  private async define(): Promise<void> {
    const sql = this.random.pick([
      "CREATE INDEX IF NOT EXISTS extra_row ON list_row (v)",
      "CREATE INDEX IF NOT EXISTS extra_vec ON list_vec (v, n)",
      "DROP INDEX IF EXISTS extra_row",
      "DROP INDEX IF EXISTS extra_vec",
    ]);
    this.judge(await this.work.call("query.execute", { sql }, this.leaving()), sql);
  }

  /** So many rows that the commit is written in parts. */
  private async bulk(): Promise<void> {
    const { work } = this;
    const b = work.takeValue();
    const sql = `INSERT INTO bulk SELECT $1::integer, i FROM generate_series(1, ${BULK_ROWS}) AS i`;
    const began = work.node.loop.now;
    work.bulks.set(b, { began, ended: 0, ending: "unknown" });
    const outcome = await work.call("query.execute", { sql, parameters: [b] }, this.leaving());
    this.judge(outcome, sql);
    work.bulks.set(b, { began, ended: work.node.loop.now, ending: endingOf(outcome, isOk) });
  }
}
