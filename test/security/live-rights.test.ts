/** Live queries of a user who may not see all rows: what is hidden sends nothing, and a policy's change ends them. */
import t from "tap";
import { TestServer } from "../e2e/server.js";

const PASSWORD = "a password of the reader";
const HIDDEN = "xyzzyhidden";

/** The text of an event stream as it comes. */
class Stream {
  text = "";
  private constructor(private readonly reader: ReadableStreamDefaultReader<Uint8Array>) {}

  static async open(server: TestServer, query: string, token: string): Promise<Stream> {
    const response = await fetch(`${server.url}/v1/subscribe?${query}`, {
      headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
    });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    return new Stream(response.body!.getReader());
  }

  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) {
      const { value, done } = await this.reader.read();
      if (done) throw new Error(`ended without ${pattern}: ${this.text}`);
      this.text += Buffer.from(value).toString();
    }
  }

  close(): Promise<void> {
    return this.reader.cancel();
  }
}

t.test("a live query answers what its user may see, until that changes", { timeout: 120_000 }, async (t) => {
  const server = await TestServer.sharedInstallation();
  t.teardown(() => server.stop());
  const reader = await server.tenant("lively");
  await server.expect(201, "POST", "/admin/tenants/lively/users", {
    ...{ username: "lively-boss", password: PASSWORD, roles: ["admin"] },
  });
  const boss = await server.login("lively-boss", PASSWORD);
  const must = (sql: string) => server.expect(200, "POST", "/v1/query/execute", { sql }, { token: boss });
  await must("CREATE TABLE board (id int PRIMARY KEY, owner text, note text)");
  await must("CREATE TABLE open (id int PRIMARY KEY, note text)");
  await must(`INSERT INTO board VALUES (1, 'lively-user', 'mine'), (2, 'other', '${HIDDEN}')`);
  await must("CREATE POLICY own ON board USING (owner = current_user)");
  await must("ALTER TABLE board ENABLE ROW LEVEL SECURITY");
  const query = `sql=${encodeURIComponent("SELECT id, note FROM board ORDER BY id")}`;

  for (const what of ["table=board", "collection=board"]) {
    await t.rejects(Stream.open(server, what, reader), /403 .*subscribe to a query|403 .*Subscribe to a query/s, what);
  }
  const own = await Stream.open(server, query, reader);
  await own.until(/"done":true/);
  t.match(own.text, "mine");
  const all = await Stream.open(server, query, boss);
  await all.until(/"done":true/);
  t.match(all.text, HIDDEN, "administrators see all");
  const open = await Stream.open(server, "table=open", reader);
  await open.until(/subscribed/);

  await must(`INSERT INTO board VALUES (3, 'other', '${HIDDEN}')`);
  await all.until(/\[3,/);
  await must("INSERT INTO board VALUES (4, 'lively-user', 'second')");
  await own.until(/second/);
  await must("UPDATE board SET owner = 'lively-user' WHERE id = 3");
  await must("UPDATE board SET note = 'given' WHERE id = 3");
  await own.until(/given/);
  await must("INSERT INTO open VALUES (1, 'for all')");
  await open.until(/for all/);
  const before = own.text.indexOf("second");
  t.notMatch(own.text.slice(0, before), HIDDEN, "nothing was told of rows that were hidden");

  await must("CREATE POLICY none ON board AS RESTRICTIVE USING (id < 2)");
  await own.until(/subscription_interrupted/);
  await open.until(/subscription_interrupted/);
  const again = await Stream.open(server, query, reader);
  await again.until(/"done":true/);
  t.notMatch(again.text, "second", "the new policy holds");
  for (const stream of [own, all, open, again]) await stream.close();
});
