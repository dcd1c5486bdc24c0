/**
 * SIGKILL while documents are written one by one and in bulks, and removed: after the restart every acknowledged
 * document is found by its id, by a filter, by its words and by its vector, each bulk is there as a whole or not at
 * all, and what was removed is found by none of them. KILL_ROUNDS makes it longer.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";

const ROUNDS = Number(process.env.KILL_ROUNDS ?? sized(1, 3));
const DIMENSIONS = 8;
const BULK = 50;
const KINDS = 7;
/** Documents acknowledged between two kills, at least. */
const ROUND_DOCUMENTS = sized(500, 1200);
/** Looked for one by one: so many of the last documents, and of all. */
const SEARCHED = sized(6, 15);
const PATH = "/v1/collections/note";

t.setTimeout(300_000);

/** No two are equal. */
function vectorOf(n: number): number[] {
  return Array.from({ length: DIMENSIONS }, (_, i) => {
    const mixed = Math.imul(Math.imul(n, 0x9e3779b1) ^ (i * 0x85ebca6b), 0xc2b2ae35) >>> 0;
    return Math.round((mixed / 2 ** 32) * 1e6) / 1e6;
  });
}

const idOf = (n: number) => `n${n}`;
const wordOf = (n: number) => `word${n}x`;
const documentOf = (n: number, bulk: number) => ({
  id: idOf(n),
  title: `the text of ${wordOf(n)}`,
  kind: n % KINDS,
  vector: vectorOf(n),
  bulk,
});

class Writer {
  readonly acknowledged = new Set<number>();
  readonly unknown = new Set<number>();
  readonly removed = new Set<number>();
  readonly maybeRemoved = new Set<number>();
  private next = 1;
  isStopped = false;

  constructor(private readonly server: TestServer) {}

  async bulk(): Promise<void> {
    const numbers = this.take(BULK);
    const documents = numbers.map((n) => documentOf(n, numbers[0]!));
    await this.settle(numbers, () => this.server.call("POST", `${PATH}/documents/bulk`, { documents }));
  }

  async single(): Promise<void> {
    const [n] = this.take(1) as [number];
    await this.settle([n], () => this.server.call("POST", `${PATH}/documents`, documentOf(n, 0)));
  }

  async remove(): Promise<void> {
    const n = [...this.acknowledged].findLast((each) => each % 11 === 3);
    if (n === undefined) return void (await sleep(5));
    this.acknowledged.delete(n);
    try {
      const { status } = await this.server.call("DELETE", `${PATH}/documents/${idOf(n)}`);
      (status === 204 ? this.removed : this.maybeRemoved).add(n);
    } catch {
      this.maybeRemoved.add(n);
    }
  }

  private take(count: number): number[] {
    const numbers = Array.from({ length: count }, (_, i) => this.next + i);
    this.next += count;
    return numbers;
  }

  private async settle(numbers: readonly number[], write: () => Promise<{ status: number }>): Promise<void> {
    try {
      const { status } = await write();
      if (status === 201) for (const n of numbers) this.acknowledged.add(n);
      else if (this.isStopped) for (const n of numbers) this.unknown.add(n);
      else throw new Error(`a write answered ${status}`);
    } catch (error) {
      if (!this.isStopped) throw error;
      for (const n of numbers) this.unknown.add(n);
    }
  }

  /** Until it is stopped, by a kill among the requests that are in flight. */
  run(): Promise<unknown> {
    const over = async (write: () => Promise<void>) => {
      while (!this.isStopped) await write();
    };
    return Promise.all([() => this.bulk(), () => this.bulk(), () => this.single(), () => this.remove()].map(over));
  }
}

type Found = readonly { readonly id: string }[];

async function search(server: TestServer, body: object): Promise<Found> {
  return (await server.expect(200, "POST", `${PATH}/search`, body)).body.data.documents;
}

/** All that a filter finds, page by page. */
async function found(server: TestServer, filters: object): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await server.expect(200, "POST", `${PATH}/search`, { filters, limit: 500, cursor });
    ids.push(...(page.body.data.documents as Found).map(({ id }) => id));
    cursor = page.body.data.next_cursor ?? undefined;
    if (cursor === undefined) return ids;
  }
}

async function check(t: Test, server: TestServer, writer: Writer, round: string): Promise<void> {
  const { acknowledged, unknown, removed, maybeRemoved } = writer;
  const stored = new Set<number>();
  for (let kind = 0; kind < KINDS; kind++) {
    for (const id of await found(server, { kind })) stored.add(Number(id.slice(1)));
  }
  t.same(
    [...acknowledged].filter((n) => !stored.has(n)),
    [],
    `${round}: acknowledged documents are found by filter`,
  );
  t.same(
    [...stored].filter((n) => removed.has(n) || !(acknowledged.has(n) || unknown.has(n) || maybeRemoved.has(n))),
    [],
    `${round}: no others are`,
  );
  const torn: string[] = [];
  for (const n of [...unknown].filter((each) => stored.has(each))) {
    const { bulk } = (await server.expect(200, "GET", `${PATH}/documents/${idOf(n)}`)).body.data;
    if (bulk === 0) continue;
    const whole = Array.from({ length: BULK }, (_, i) => bulk + i).filter((each) => !maybeRemoved.has(each));
    if (!whole.every((each) => stored.has(each))) torn.push(idOf(n));
  }
  t.same(torn, [], `${round}: bulks are there as a whole or not at all`);
  const all = [...acknowledged];
  const missed: string[] = [];
  for (const n of [...all.slice(-SEARCHED), ...all.filter((_, i) => i % Math.ceil(all.length / SEARCHED) === 0)]) {
    const id = idOf(n);
    const stored = (await server.expect(200, "GET", `${PATH}/documents/${id}`)).body.data;
    if (JSON.stringify(stored.vector) !== JSON.stringify(vectorOf(n))) missed.push(`${id} by its id`);
    const byText = await search(server, { query: wordOf(n), mode: "text" });
    if (byText.length !== 1 || byText[0]!.id !== id) missed.push(`${id} by text`);
    const byVector = await search(server, { vector: vectorOf(n), mode: "vector", limit: 200 });
    if (byVector[0]?.id !== id) missed.push(`${id} by vector`);
    const byBoth = await search(server, { query: wordOf(n), vector: vectorOf(n), filters: { kind: n % KINDS } });
    if (byBoth[0]?.id !== id) missed.push(`${id} by text and vector with a filter`);
  }
  t.same(missed, [], `${round}: they are found by id, text and vector`);
  const ghosts: string[] = [];
  for (const n of [...removed].slice(-10)) {
    ghosts.push(...(await search(server, { query: wordOf(n), mode: "text" })).map(({ id }) => id));
    const near = await search(server, { vector: vectorOf(n), mode: "vector", limit: 3 });
    ghosts.push(...near.map(({ id }) => id).filter((id) => !stored.has(Number(id.slice(1)))));
    t.equal((await server.call("GET", `${PATH}/documents/${idOf(n)}`)).status, 404);
  }
  t.same(ghosts, [], `${round}: nothing that was removed comes back`);
}

t.test("acknowledged documents are found by every way after SIGKILL", async (t) => {
  const server = await TestServer.start();
  t.teardown(() => server.stop());
  await server.expect(201, "POST", "/v1/collections", {
    name: "note",
    schema: {
      fields: [
        { name: "title", type: "string", required: true },
        { name: "kind", type: "number" },
        { name: "vector", type: "vector", dimensions: DIMENSIONS },
      ],
      indexes: [
        { name: "by_kind", fields: ["kind"], type: "btree" },
        { name: "by_title", fields: ["title"], type: "text" },
        { name: "by_vector", fields: ["vector"], type: "vector", metric: "l2" },
      ],
    },
  });
  const writer = new Writer(server);
  for (let round = 0; round < ROUNDS; round++) {
    writer.isStopped = false;
    const enough = writer.acknowledged.size + ROUND_DOCUMENTS;
    const running = writer.run();
    while (writer.acknowledged.size < enough) await sleep(5);
    await sleep(Math.random() * 200);
    writer.isStopped = true;
    await server.kill();
    await running;
    await server.boot();
    await check(t, server, writer, `round ${round}`);
  }
  t.comment(`${writer.acknowledged.size} acknowledged, ${writer.unknown.size} unknown, ${writer.removed.size} removed`);
});
