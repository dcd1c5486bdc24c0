/** GET /v1/subscribe as pages read it: events, coming back by Last-Event-ID, tickets, and how streams end. */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());
await server.sql("CREATE TABLE news (id integer PRIMARY KEY, title text)");

interface Event {
  readonly id?: string;
  readonly event?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect; a wrong shape fails the test.
  readonly data?: any;
}

/** Reads events one by one. */
class Events {
  private constructor(
    readonly response: Response,
    private readonly abort: AbortController,
    private readonly reader: ReadableStreamDefaultReader<Uint8Array>,
  ) {}

  private text = "";

  static async open(query: string, headers: Record<string, string>): Promise<Events> {
    const abort = new AbortController();
    const accept = { accept: "text/event-stream" };
    const url = `${server.url}/v1/subscribe?${query}`;
    const response = await fetch(url, { headers: { ...accept, ...headers }, signal: abort.signal });
    return new Events(response, abort, response.body!.getReader());
  }

  /** Until a comment has come; events stay where they are. */
  async comment(): Promise<boolean> {
    while (!/(?:^|\n\n):/.test(this.text)) {
      const { value, done } = await this.reader.read();
      if (done) return false;
      this.text += Buffer.from(value).toString();
    }
    return true;
  }

  async next(): Promise<Event | null> {
    for (;;) {
      const end = this.text.indexOf("\n\n");
      if (end !== -1) {
        const block = this.text.slice(0, end);
        this.text = this.text.slice(end + 2);
        if (!block.startsWith(":")) {
          const fields = Object.fromEntries(
            block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
          );
          return { ...fields, data: JSON.parse(fields.data!) };
        }
        continue;
      }
      const { value, done } = await this.reader.read();
      if (done) return null;
      this.text += Buffer.from(value).toString();
    }
  }

  close(): void {
    this.abort.abort();
  }
}

const bearer = (token = server.token) => ({ authorization: `Bearer ${token}` });

t.test("events, and coming back where one left", async (t) => {
  const stream = await Events.open(`table=news&filter=${encodeURIComponent('{"id":{"$gt":1}}')}`, bearer());
  t.equal(stream.response.status, 200);
  t.match(stream.response.headers.get("content-type"), /^text\/event-stream/);
  const subscribed = await stream.next();
  t.match(subscribed, { event: "subscribed", data: { sequence: Number } });
  await server.sql("INSERT INTO news VALUES (1, 'one'), (2, 'two'), (3, 'three')");
  const two = await stream.next();
  t.match(two, { event: "change", data: { type: "change", operation: "insert", document: { id: 2, title: "two" } } });
  t.equal(two!.id, String(two!.data.sequence));
  const three = await stream.next();
  t.match(three, { data: { document: { id: 3 } } });
  stream.close();
  const again = await Events.open("table=news", { ...bearer(), "last-event-id": two!.id! });
  await again.next();
  t.same((await again.next())!.data, three!.data);
  again.close();
  const byQuery = await Events.open(`table=news&sequence=${subscribed!.id}`, bearer());
  await byQuery.next();
  for (const id of [1, 2, 3]) t.match(await byQuery.next(), { data: { document: { id } } });
  byQuery.close();
});

t.test("a query with parameters is followed, in SQL and in Cypher, and its large numbers are whole", async (t) => {
  const large = 2n ** 53n + 1n;
  await server.sql("CREATE TABLE large (id bigint)");
  await server.expect(200, "POST", "/v1/graph/match", { cypher: "CREATE (:Person {name: 'Ann', id: 1})" });
  const followed = async (query: Readonly<Record<string, string>>, rows: unknown[]): Promise<Events> => {
    const stream = await Events.open(new URLSearchParams(query).toString(), bearer());
    t.match(await stream.next(), { event: "subscribed" });
    t.match(await stream.next(), { event: "result", data: { rows } });
    return stream;
  };
  const table = await followed({ sql: "SELECT id FROM large WHERE id = $1", parameters: `[${large}]` }, []);
  await server.sql(`INSERT INTO large VALUES (${large - 1n}), (${large})`);
  t.equal(((await table.next())!.data.added as unknown[]).length, 1, "not the double nearest to it");
  table.close();
  const cypher = "MATCH (p:Person) WHERE p.id < $most RETURN p.name AS name";
  const graph = await followed({ sql: cypher, language: "cypher", parameters: '{"most": 3}' }, [["Ann"]]);
  const more = "CREATE (:Person {name: 'Bob', id: 3}), (:Person {name: 'Cleo', id: 2})";
  await server.expect(200, "POST", "/v1/graph/match", { cypher: more });
  t.match(await graph.next(), { event: "changes", data: { added: [["Cleo"]] } });
  graph.close();
});

t.test("a ticket opens one stream; lasting credentials do not", async (t) => {
  const { token } = (await server.expect(200, "POST", "/v1/ws/ticket")).body;
  const stream = await Events.open(`table=news&token=${token}`, {});
  t.match(await stream.next(), { event: "subscribed" });
  for (const credential of [token, server.token]) {
    const refused = await fetch(`${server.url}/v1/subscribe?table=news&token=${credential}`);
    t.equal(refused.status, 401);
    t.match(await refused.json(), { error: { code: "unauthorized", message: /ticket/ } });
  }
  stream.close();
});

t.test("errors before the stream are replies, later ones events", async (t) => {
  const refused = async (query: string, status: number, headers: Record<string, string> = bearer()) => {
    const reply = await fetch(`${server.url}/v1/subscribe?${query}`, { headers });
    t.equal(reply.status, status, query);
    return reply.json();
  };
  t.match(await refused("", 400), { error: { code: "invalid_request" } });
  t.match(await refused("table=nothing", 404), { error: { code: "not_found" } });
  t.match(await refused("table=news&filter=%7B", 400), { error: { details: { field: "filter" } } });
  t.match(await refused("table=news&surplus=1", 400), { error: { message: /surplus/ } });
  t.match(await refused("table=news&sequence=12", 410), { error: { code: "sequence_too_old" } });
  t.match(await refused("table=news", 401, {}), { error: { code: "missing_authorization" } });
  await server.sql("CREATE TABLE gone (id integer)");
  const stream = await Events.open("table=gone", bearer());
  await stream.next();
  await server.sql("DROP TABLE gone");
  t.match(await stream.next(), { event: "error", data: { type: "error", code: "not_found" } });
  t.equal(await stream.next(), null);
});

t.test("it stays open while nothing happens, and ends when the credential is taken away", async (t) => {
  const { api_key, raw_key } = (
    await server.expect(201, "POST", "/v1/api-keys", { name: "reader", permission: "ReadOnly" })
  ).body.data;
  const stream = await Events.open("table=news", bearer(raw_key));
  await stream.next();
  t.ok(await stream.comment(), "comments keep it open");
  await server.sql("INSERT INTO news VALUES (10, 'ten')");
  t.match(await stream.next(), { data: { document: { id: 10 } } });
  await server.expect(204, "DELETE", `/v1/api-keys/${api_key.id}`);
  t.match(await stream.next(), { event: "error", data: { code: "unauthorized" } });
  t.equal(await stream.next(), null);
});
