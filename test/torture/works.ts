/**
 * What the torture loads a server with: works over all models. Each writes items with numbers of their own, whole or
 * not at all, and can list what is stored. What was acknowledged must be there after every restart, what was refused
 * never; of what was not answered the first look afterwards decides.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Reply, TestServer } from "../e2e/server.js";

export abstract class Work {
  abstract readonly name: string;
  /** How many parts an item has that commit together. */
  abstract readonly parts: number;
  readonly acknowledged = new Set<number>();
  readonly unknown = new Set<number>();
  readonly refused = new Set<number>();
  protected next = 1;

  constructor(protected readonly server: TestServer) {}

  abstract prepare(): Promise<void>;
  /** Writes the item; the last reply decides. Null: given up before anything could have been stored. */
  protected abstract write(n: number): Promise<Reply | null>;
  /** How many parts of each item are stored. */
  protected abstract stored(): Promise<Map<number, number>>;
  /** Indexes against records, of some items. */
  protected async problemsOfIndexes(_items: readonly number[]): Promise<string[]> {
    return [];
  }

  async one(): Promise<void> {
    const n = this.next++;
    try {
      const reply = await this.write(n);
      if (reply === null) this.refused.add(n);
      else if (reply.status < 300) this.acknowledged.add(n);
      else if (reply.status < 500 || reply.status === 507) this.refused.add(n);
      else this.unknown.add(n);
    } catch {
      this.unknown.add(n);
    }
  }

  async problems(): Promise<string[]> {
    const stored = await this.stored();
    const problems: string[] = [];
    const say = (what: string, items: number[]): void => {
      if (items.length > 0) problems.push(`${this.name}: ${what}: ${items.slice(0, 10)} (${items.length})`);
    };
    say(
      "acknowledged and lost",
      [...this.acknowledged].filter((n) => !stored.has(n)),
    );
    say(
      "there by half, or twice",
      [...stored].filter(([, parts]) => parts !== this.parts).map(([n]) => n),
    );
    say(
      "refused and there",
      [...this.refused].filter((n) => stored.has(n)),
    );
    say(
      "from nowhere",
      [...stored.keys()].filter((n) => n >= this.next),
    );
    for (const n of this.unknown) (stored.has(n) ? this.acknowledged : this.refused).add(n);
    this.unknown.clear();
    const all = [...this.acknowledged];
    const some = [...all.slice(-5), ...all.filter((_, i) => i % Math.ceil(all.length / 5) === 0)];
    return [...problems, ...(await this.problemsOfIndexes(some)).map((problem) => `${this.name}: ${problem}`)];
  }

  protected async counted(sql: string, parameters: readonly unknown[] = []): Promise<Map<number, number>> {
    const body = { sql, parameters, max_rows: 1_000_000 };
    const reply = await this.server.expect(200, "POST", "/v1/query/execute", body);
    return new Map((reply.body.data.rows as [number, number][]).map(([n, count]) => [Number(n), Number(count)]));
  }
}

class Rows extends Work {
  readonly name = "rows";
  readonly parts = 1;

  async prepare(): Promise<void> {
    await this.server.rows("CREATE TABLE single (n integer PRIMARY KEY, note text)");
    await this.server.rows("CREATE INDEX single_note ON single (note)");
  }

  protected write(n: number): Promise<Reply> {
    return this.server.sql("INSERT INTO single VALUES ($1, $2)", [n, `note ${n}`]);
  }

  protected stored(): Promise<Map<number, number>> {
    return this.counted("SELECT n, count(*) FROM single GROUP BY n");
  }

  protected override async problemsOfIndexes(items: readonly number[]): Promise<string[]> {
    const problems: string[] = [];
    for (const n of items) {
      const found = await this.server.rows("SELECT n FROM single WHERE note = $1", [`note ${n}`]);
      if (found.length !== 1 || found[0]![0] !== n) problems.push(`row ${n} by its note is ${JSON.stringify(found)}`);
    }
    return problems;
  }
}

/**
 * One transaction over several requests that writes a row, a document, a node with a relationship, and a row with a
 * vector.
 */
class Everything extends Work {
  readonly name = "transactions over all models";
  readonly parts = 4;

  async prepare(): Promise<void> {
    const { server } = this;
    await server.rows("CREATE TABLE part (n integer PRIMARY KEY, e vector(3))");
    await server.rows("CREATE INDEX part_e ON part USING hnsw (e vector_l2_ops)");
    await server.rows("CREATE TABLE ledger (n integer PRIMARY KEY, at timestamptz DEFAULT now())");
    const fields = [
      { name: "n", type: "integer" },
      { name: "title", type: "string" },
    ];
    const indexes = [{ name: "by_title", fields: ["title"], type: "text" }];
    await server.expect(201, "POST", "/v1/collections", { name: "paper", schema: { fields, indexes } });
    await server.rows("CREATE INDEX FOR (t:Thing) ON (t.n)");
    await server.rows("CREATE (:Root {name: 'root'})");
  }

  protected async write(n: number): Promise<Reply | null> {
    const { server } = this;
    const begun = await server.call("POST", "/v1/transactions").catch(() => null);
    if (begun === null || begun.status !== 201) return null;
    const path = `/v1/transactions/${begun.body.data.id}`;
    const statements: [string, object][] = [
      ["INSERT INTO ledger (n) VALUES ($1)", [n]],
      ["INSERT INTO paper (id, n, title) VALUES ($1, $2, $3)", [`p${n}`, n, `about topic${n}x`]],
      ["MATCH (r:Root) CREATE (r)-[:HAS {n: $n}]->(:Thing {n: $n})", { n }],
      ["INSERT INTO part VALUES ($1, $2)", [n, vectorOf(n)]],
    ];
    for (const [sql, parameters] of statements) {
      const reply = await server.call("POST", `${path}/execute`, { sql, parameters }).catch(() => null);
      // Without its commit nothing of it may ever be there.
      if (reply === null || reply.status !== 200) {
        if (reply !== null && reply.status === 400) throw new Error(JSON.stringify(reply.body));
        return null;
      }
    }
    return server.call("POST", `${path}/commit`);
  }

  protected async stored(): Promise<Map<number, number>> {
    const parts = new Map<number, number>();
    const add = (found: Map<number, number>): void => {
      for (const [n, count] of found) parts.set(n, (parts.get(n) ?? 0) + count);
    };
    add(await this.counted("SELECT n, count(*) FROM ledger GROUP BY n"));
    add(await this.counted("SELECT n, count(*) FROM paper GROUP BY n"));
    add(await this.counted("SELECT n, count(*) FROM part GROUP BY n"));
    add(await this.counted("MATCH (:Root)-[h:HAS]->(t:Thing) WHERE h.n = t.n RETURN t.n, count(*)"));
    return parts;
  }

  protected override async problemsOfIndexes(items: readonly number[]): Promise<string[]> {
    const { server } = this;
    const problems: string[] = [];
    for (const n of items) {
      const near = await server.rows("SELECT n FROM part ORDER BY e <-> $1 LIMIT 1", [vectorOf(n)]);
      if (near[0]?.[0] !== n) problems.push(`the vector nearest to ${n}'s is ${near[0]}`);
      const found = await server.expect(200, "POST", "/v1/collections/paper/search", {
        query: `topic${n}x`,
        mode: "text",
      });
      const ids = found.body.data.documents.map(({ id }: { id: string }) => id);
      if (ids.length !== 1 || ids[0] !== `p${n}`) problems.push(`paper ${n} by its words is ${ids}`);
      const back = await this.counted("MATCH (t:Thing {n: $n})<-[h:HAS]-(:Root) RETURN t.n, count(h)", { n } as never);
      if (back.get(n) !== 1) problems.push(`the relationship to thing ${n} is found ${back.get(n)} times`);
    }
    return problems;
  }
}

const BULK = 40;

class Documents extends Work {
  readonly name = "documents in bulks";
  readonly parts = BULK;

  async prepare(): Promise<void> {
    const fields = [{ name: "n", type: "integer" }];
    const indexes = [{ name: "by_n", fields: ["n"], type: "btree" }];
    await this.server.expect(201, "POST", "/v1/collections", { name: "leaf", schema: { fields, indexes } });
  }

  protected write(n: number): Promise<Reply> {
    const documents = Array.from({ length: BULK }, (_, i) => ({ id: `l${n}-${i}`, n, text: "x".repeat(100) }));
    return this.server.call("POST", "/v1/collections/leaf/documents/bulk", { documents });
  }

  protected stored(): Promise<Map<number, number>> {
    return this.counted("SELECT n, count(*) FROM leaf GROUP BY n");
  }

  protected override async problemsOfIndexes(items: readonly number[]): Promise<string[]> {
    const problems: string[] = [];
    for (const n of items) {
      const { body } = await this.server.expect(200, "POST", "/v1/collections/leaf/search", {
        filters: { n },
        limit: 100,
      });
      if (body.data.documents.length !== BULK) problems.push(`${body.data.documents.length} leaves of ${n} by index`);
    }
    return problems;
  }
}

class Vectors extends Work {
  readonly name = "vectors";
  readonly parts = 5;

  async prepare(): Promise<void> {
    const body = { name: "dot", dimensions: 3, metric: "l2" };
    await this.server.expect(201, "POST", "/v1/vectors/collections", body);
  }

  protected write(n: number): Promise<Reply> {
    const vectors = Array.from({ length: this.parts }, (_, i) => ({
      id: `v${n}-${i}`,
      vector: [...vectorOf(n).slice(0, 2), i],
      metadata: { n },
    }));
    return this.server.call("POST", "/v1/vectors/collections/dot/vectors", { vectors, on_conflict: "replace" });
  }

  protected stored(): Promise<Map<number, number>> {
    return this.counted("SELECT (metadata->>'n')::integer AS n, count(*) FROM dot GROUP BY 1");
  }

  protected override async problemsOfIndexes(items: readonly number[]): Promise<string[]> {
    const problems: string[] = [];
    for (const n of items) {
      const vector = [...vectorOf(n).slice(0, 2), 2];
      const { body } = await this.server.expect(200, "POST", "/v1/vectors/collections/dot/search", {
        vector,
        limit: 1,
      });
      if (body.data[0]?.id !== `v${n}-2`) problems.push(`the vector of ${n} is not found by itself`);
    }
    return problems;
  }
}

class Memories extends Work {
  readonly name = "memories";
  readonly parts = 1;

  async prepare(): Promise<void> {
    await this.server.expect(201, "POST", "/v1/ai/memory/torture", { content: "the first one", metadata: { n: 0 } });
    this.acknowledged.add(0);
  }

  protected write(n: number): Promise<Reply> {
    return this.server.call("POST", "/v1/ai/memory/torture", { content: `the number is ${n}`, metadata: { n } });
  }

  protected stored(): Promise<Map<number, number>> {
    return this.counted("SELECT (metadata->>'n')::integer AS n, count(*) FROM _memory_torture GROUP BY 1");
  }
}

/** A message and its answer are stored together. */
class Chats extends Work {
  readonly name = "chats";
  readonly parts = 2;
  private session = "";

  async prepare(): Promise<void> {
    const { body } = await this.server.expect(201, "POST", "/v1/ai/sessions", {});
    this.session = body.data.session_id;
  }

  protected write(n: number): Promise<Reply> {
    return this.server.call("POST", "/v1/ai/chat", { session_id: this.session, content: `item ${n}`, max_tokens: 5 });
  }

  protected async stored(): Promise<Map<number, number>> {
    const rows = (
      await this.server.expect(200, "POST", "/v1/query/execute", {
        sql: "SELECT role, content FROM _chat_messages WHERE session_id = $1 ORDER BY created_at, id",
        parameters: [this.session],
        max_rows: 1_000_000,
      })
    ).body.data.rows as [string, string][];
    const parts = new Map<number, number>();
    let n = 0;
    for (const [role, content] of rows) {
      if (role === "user") n = Number(content.slice("item ".length));
      parts.set(n, (parts.get(n) ?? 0) + 1);
    }
    return parts;
  }
}

/** Files of so many rows that they are committed in parts. */
class Imports extends Work {
  readonly name = "imports";
  readonly parts = 3000;

  async prepare(): Promise<void> {
    await this.server.rows("CREATE TABLE bulk (n integer, i integer, note text)");
    await this.server.rows("CREATE INDEX bulk_n ON bulk (n)");
  }

  protected write(n: number): Promise<Reply> {
    const lines = Array.from({ length: this.parts }, (_, i) => `${n},${i},line ${i}`);
    const headers = { "content-type": "text/csv" };
    return this.server.call("POST", "/v1/data/import/csv?table=bulk", `n,i,note\n${lines.join("\n")}\n`, { headers });
  }

  protected stored(): Promise<Map<number, number>> {
    return this.counted("SELECT n, count(*) FROM bulk GROUP BY n");
  }

  protected override async problemsOfIndexes(items: readonly number[]): Promise<string[]> {
    const problems: string[] = [];
    for (const n of items) {
      const [[count]] = (await this.server.rows("SELECT count(*) FROM bulk WHERE n = $1", [n])) as [[number]];
      if (count !== this.parts) problems.push(`${count} rows of import ${n} by index`);
    }
    return problems;
  }
}

/** Between two backups: the rest of the load is what they are taken beside. */
const PAUSE_MS = 200;

/**
 * Backups beside the other works: those that were acknowledged are whole, and the newest restores a state in which what
 * commits together is there together.
 */
class TakenBackups extends Work {
  readonly name = "backups";
  readonly parts = 1;
  private readonly ids = new Map<string, number>();

  async prepare(): Promise<void> {
    await this.server.expect(201, "POST", "/admin/tenants", { id: "restored" });
    const user = { username: "restored-user", password: "password of restored", roles: ["super_admin"] };
    await this.server.expect(201, "POST", "/admin/tenants/restored/users", user);
  }

  protected async write(n: number): Promise<Reply> {
    const { server } = this;
    await sleep(PAUSE_MS);
    const made = await server.call("POST", "/v1/backups", { incremental: n % 3 !== 1 });
    if (made.status !== 202) return made;
    const { id } = made.body.data;
    this.ids.set(id, n);
    for (;;) {
      const reply = await server.call("GET", `/v1/backups/${id}`);
      if (reply.status !== 200) return reply;
      const { status } = reply.body.data;
      if (status === "completed") return reply;
      // A full disk, or the end of the server: it is not there.
      if (status === "failed") return { ...reply, status: 409 };
      await sleep(20);
    }
  }

  /** The small disk has no room for those of a hundred rounds. Newest first, as they continue each other. */
  private async removeAll(backups: readonly { readonly id: string; readonly status: string }[]): Promise<void> {
    for (const { id, status } of backups) {
      await this.server.expect(204, "DELETE", `/v1/backups/${id}`);
      if (status === "completed") this.acknowledged.delete(this.ids.get(id) ?? -1);
    }
  }

  protected async stored(): Promise<Map<number, number>> {
    const { backups } = (await this.server.expect(200, "GET", "/v1/backups?limit=1000")).body.data;
    const whole = backups.filter(({ status }: { status: string }) => status === "completed");
    return new Map(whole.map(({ id }: { id: string }) => [this.ids.get(id) ?? -1, 1]));
  }

  protected override async problemsOfIndexes(items: readonly number[]): Promise<string[]> {
    const { server } = this;
    const { backups } = (await server.expect(200, "GET", "/v1/backups?limit=1000")).body.data;
    const newest = backups.find(({ status }: { status: string }) => status === "completed");
    if (items.length === 0 || newest === undefined) return [];
    const verified = await server.call("POST", `/v1/backups/${newest.id}/verify`, {});
    if (verified.status !== 200) return [`backup ${newest.id} is not whole: ${JSON.stringify(verified.body)}`];
    const path = "/admin/tenants/restored/restore";
    await server.expect(202, "POST", path, { backup: newest.id, from: "system", replace: true });
    for (;;) {
      const { data } = (await server.expect(200, "GET", path)).body;
      if (data.finished_at === null) await sleep(20);
      else if (data.error !== null) return [`backup ${newest.id} is not restored: ${data.error.message}`];
      else break;
    }
    const as = { token: await server.login("restored-user", "password of restored") };
    const torn = await server.rows(
      `SELECT n, count(*) FROM (SELECT n FROM ledger UNION ALL SELECT n FROM paper UNION ALL SELECT n FROM part) AS all_parts
       GROUP BY n HAVING count(*) <> 3 UNION ALL SELECT n, count(*) FROM bulk GROUP BY n HAVING count(*) <> 3000`,
      [],
      as,
    );
    await this.removeAll(backups);
    return torn.map((row) => `restored by half: ${row}`);
  }
}

/** Tables are emptied but for a few rows: by so much at once that ranges are deleted and not each row. */
class Sweeps extends Work {
  readonly name = "sweeps";
  readonly parts = 2;
  private readonly rows = 17_000;

  async prepare(): Promise<void> {
    await this.server.rows("CREATE TABLE swept (n integer, i integer, PRIMARY KEY (n, i))");
  }

  protected async write(n: number): Promise<Reply | null> {
    const { server, rows } = this;
    const filled = await server
      .sql("INSERT INTO swept SELECT $1::integer, g FROM generate_series(1, $2::integer) AS g", [n, rows])
      .catch(() => null);
    if (filled === null || filled.status !== 200) return null;
    return server.sql("DELETE FROM swept WHERE n = $1 AND i NOT IN (1, $2)", [n, rows / 2]);
  }

  /** One that is still full has not been swept. */
  protected stored(): Promise<Map<number, number>> {
    return this.counted("SELECT n, count(*) FROM swept GROUP BY n HAVING count(*) <> $1", [this.rows]);
  }

  protected override async problemsOfIndexes(items: readonly number[]): Promise<string[]> {
    const problems: string[] = [];
    for (const n of items) {
      const found = await this.server.rows("SELECT i FROM swept WHERE n = $1 ORDER BY i DESC LIMIT 1", [n]);
      if (found[0]?.[0] !== this.rows / 2) problems.push(`the greatest row of ${n} is ${JSON.stringify(found)}`);
    }
    return problems;
  }
}

/** No two are equal. */
function vectorOf(n: number): number[] {
  return [n % 1000, Math.floor(n / 1000), 7];
}

/** With how many clients each; more of those that are quick. */
export function allWorks(server: TestServer): readonly { readonly work: Work; readonly clients: number }[] {
  return [
    { work: new Rows(server), clients: 4 },
    { work: new Everything(server), clients: 3 },
    { work: new Documents(server), clients: 1 },
    { work: new Vectors(server), clients: 1 },
    { work: new Memories(server), clients: 1 },
    { work: new Chats(server), clients: 1 },
    { work: new Imports(server), clients: 1 },
    { work: new Sweeps(server), clients: 1 },
    { work: new TakenBackups(server), clients: 1 },
  ];
}
