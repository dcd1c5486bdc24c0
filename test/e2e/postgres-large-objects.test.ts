/** Large objects: PostgreSQL's functions, the function call message by which libpq works, the catalog, roles. */
import t from "tap";
import { passwordOf, TestServer } from "./server.js";
import {
  errorIn,
  int16,
  int32,
  lettersOf,
  message,
  postgresPort,
  valuesOf,
  WITH_POSTGRES,
  WireClient,
  withWire,
} from "./wire-client.js";
import { signIn } from "./wire-sign-in.js";

const READ_WRITE = 0x60000;
const READ = 0x40000;
/** OIDs of the functions, as clients find them in pg_proc. */
const OID = { lo_open: 952, lo_close: 953, loread: 954, lowrite: 955, lo_lseek: 956, lo_creat: 957, upper: 871 };

let server: TestServer;
t.before(async () => {
  server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" });
});
t.teardown(() => server?.stop());

const withClient = (work: (client: WireClient) => Promise<void>) => withWire(server, work);

async function answerTo(client: WireClient, sql: string): Promise<string | null | undefined> {
  const row = (await client.ask(sql)).find(({ type }) => type === "D");
  return row === undefined ? undefined : valuesOf(row)[0];
}

async function stateOf(client: WireClient, sql: string): Promise<string> {
  return errorIn(await client.ask(sql)).C!;
}

/** A function call message: arguments and result in binary. */
function functionCall(oid: number, args: readonly (Buffer | null)[]): Buffer {
  const list = args.flatMap((arg) => (arg === null ? [int32(-1)] : [int32(arg.length), arg]));
  return message("F", int32(oid), int16(1), int16(1), int16(args.length), ...list, int16(1));
}

async function called(client: WireClient, oid: number, ...args: (Buffer | null)[]): Promise<Buffer | null> {
  client.send(functionCall(oid, args));
  const messages = await client.until("Z");
  const answer = messages.find(({ type }) => type === "V");
  if (answer === undefined) throw new Error(`no answer but ${JSON.stringify(errorIn(messages))}`);
  const length = answer.body.readInt32BE(0);
  return length < 0 ? null : answer.body.subarray(4, 4 + length);
}

t.test("the function call message works with large objects as libpq does", (t) =>
  withClient(async (client) => {
    const asked = (name: string) => answerTo(client, `SELECT 'pg_catalog.${name}'::regproc::oid`);
    t.equal(Number(await asked("loread")), OID.loread);
    await client.ask("BEGIN");
    const id = (await called(client, OID.lo_creat, int32(READ_WRITE)))!.readUInt32BE(0);
    const fd = (await called(client, OID.lo_open, int32(id), int32(READ_WRITE)))!;
    t.equal(fd.readInt32BE(0), 0);
    // Longer than a page, and with a part that is written twice.
    const bytes = Buffer.from(Array.from({ length: 5000 }, (_, i) => i % 251));
    t.equal((await called(client, OID.lowrite, fd, bytes))!.readInt32BE(0), 5000);
    t.equal((await called(client, OID.lo_lseek, fd, int32(2040), int32(0)))!.readInt32BE(0), 2040);
    await called(client, OID.lowrite, fd, Buffer.alloc(16, 0xff));
    bytes.fill(0xff, 2040, 2056);
    await called(client, OID.lo_lseek, fd, int32(0), int32(0));
    t.same(await called(client, OID.loread, fd, int32(10_000)), bytes);
    t.same(await called(client, OID.loread, fd, int32(1)), Buffer.alloc(0), "the end");
    await called(client, OID.lo_close, fd);
    await client.ask("COMMIT");
    t.equal(await answerTo(client, `SELECT length(lo_get(${id}))`), "5000");
    t.same(await called(client, OID.upper, Buffer.from("any function")), Buffer.from("ANY FUNCTION"));
    t.equal(await called(client, OID.upper, null), null);
  }),
);

t.test("a function call that fails is an error, and the session goes on", (t) =>
  withClient(async (client) => {
    client.send(functionCall(OID.lo_open, [int32(7), int32(READ)]));
    const messages = await client.until("Z");
    t.equal(lettersOf(messages), "EZ");
    t.match(errorIn(messages), { C: "42704", M: "large object 7 does not exist" });
    for (const [call, code] of [
      [functionCall(1, []), "42883"],
      [functionCall(OID.lo_close, []), "08P01"],
      [functionCall(OID.lo_close, [int32(0)]), "42704"],
    ] as const) {
      client.send(call);
      t.equal(errorIn(await client.until("Z")).C, code);
    }
    await client.ask("BEGIN");
    await client.ask("SELECT 1/0");
    client.send(functionCall(OID.lo_creat, [int32(READ)]));
    t.equal(errorIn(await client.until("Z")).C, "25P02");
    t.equal(lettersOf(await client.ask("ROLLBACK")), "CZ");
  }),
);

t.test("positions, zeros between pages, lengths", (t) =>
  withClient(async (client) => {
    const value = (sql: string) => answerTo(client, sql);
    await client.ask("BEGIN");
    t.equal(await value("SELECT lo_create(5001)"), "5001");
    t.equal(await value(`SELECT lo_open(5001, ${READ_WRITE})`), "0");
    t.equal(await value(`SELECT lo_open(5001, ${READ})`), "1");
    t.equal(await value("SELECT lo_lseek(0, 10000, 0)"), "10000");
    t.equal(await value("SELECT lowrite(0, 'end')"), "3");
    t.equal(await value("SELECT lo_tell(0)"), "10003");
    t.equal(await value("SELECT lo_lseek64(1, -5, 2)"), "9998");
    t.equal(await value("SELECT loread(1, 100)"), "\\x0000656e64");
    t.equal(await value("SELECT lo_lseek(1, -3, 1)"), "10000");
    t.equal(await value("SELECT lo_truncate(0, 10001)"), "0");
    t.equal(await value("SELECT loread(1, 100)"), "\\x65");
    t.equal(await value("SELECT lo_truncate64(0, 20000)"), "0");
    t.equal(await value("SELECT length(lo_get(5001))"), "20000");
    t.equal(await value("SELECT lo_truncate(0, 0)"), "0");
    t.equal(await value("SELECT length(lo_get(5001))"), "0");
    t.equal(await value("SELECT count(*) FROM pg_largeobject WHERE loid = 5001"), "1");
    t.equal(await value("SELECT lo_close(1)"), "0");
    await client.ask("SAVEPOINT s");
    t.equal(await value(`SELECT lo_open(5001, ${READ})`), "1", "the number is free again");
    await client.ask("ROLLBACK TO s");
    t.equal(await stateOf(client, "SELECT lo_tell(1)"), "42704", "what was opened since is closed");
    await client.ask("ROLLBACK TO s");
    t.equal(await value("SELECT lo_unlink(5001)"), "1");
    t.equal(await stateOf(client, "SELECT lo_tell(0)"), "42704");
    await client.ask("ROLLBACK");
    t.equal(await stateOf(client, "SELECT lo_get(5001)"), "42704", "the whole was one transaction");
  }),
);

t.test("mistakes have PostgreSQL's codes", (t) =>
  withClient(async (client) => {
    await client.ask("SELECT lo_from_bytea(5002, 'abc')");
    t.equal(await answerTo(client, "SELECT lo_get(5002, 1, 5)"), "\\x6263");
    t.equal(await stateOf(client, "SELECT lo_from_bytea(5002, 'abc')"), "23505");
    t.equal(await stateOf(client, "SELECT lo_unlink(5003)"), "42704");
    t.equal(await stateOf(client, "SELECT lo_open(5002, 0)"), "22023");
    t.equal(await stateOf(client, "SELECT lo_get(5002, -1, 5)"), "22023");
    t.equal(await stateOf(client, "SELECT lo_get(5002, 0, -5)"), "22023");
    t.equal(await stateOf(client, "SELECT lo_put(5002, 4398046509057, 'x')"), "22023");
    t.equal(await stateOf(client, "SELECT lo_import('/etc/passwd')"), "42501");
    t.equal(await stateOf(client, "SELECT lo_export(5002, '/tmp/x')"), "42501");
    for (const wrong of ["lowrite(lo_open(5002, 262144), 'x')", "lo_truncate(lo_open(5002, 262144), 1)"]) {
      t.equal(await stateOf(client, `SELECT ${wrong}`), "55000");
    }
    for (const wrong of ["lo_lseek(lo_open(5002, 262144), -1, 0)", "lo_lseek(lo_open(5002, 262144), 1, 7)"]) {
      t.equal(await stateOf(client, `SELECT ${wrong}`), "22023");
    }
    await client.ask("BEGIN READ ONLY");
    t.equal(await stateOf(client, "SELECT lo_unlink(5002)"), "25006");
    await client.ask("ROLLBACK");
  }),
);

t.test("the catalog has large objects as PostgreSQL's, and not the tables behind them", (t) =>
  withClient(async (client) => {
    await client.ask("SELECT lo_from_bytea(5004, 'abc')");
    const rows = (sql: string) => answerTo(client, sql);
    t.equal(await rows("SELECT lomowner FROM pg_largeobject_metadata WHERE oid = 5004"), "10");
    t.equal(await rows("SELECT data FROM pg_largeobject WHERE loid = 5004 AND pageno = 0"), "\\x616263");
    // As pg_dump does.
    await client.ask("BEGIN");
    await client.ask("DECLARE ids CURSOR FOR SELECT oid FROM pg_largeobject_metadata WHERE oid = 5004 ORDER BY 1");
    t.equal(await rows("FETCH 1000 IN ids"), "5004");
    await client.ask("DECLARE bytes CURSOR FOR SELECT lo_get(oid) FROM pg_largeobject_metadata WHERE oid = 5004");
    t.equal(await rows("FETCH 1000 IN bytes"), "\\x616263");
    await client.ask("COMMIT");
    t.equal(await rows("SELECT count(*) FROM pg_class WHERE relname LIKE '%large_object%'"), "0");
    t.equal(await rows("SELECT count(*) FROM information_schema.tables WHERE table_name ~ 'large_object'"), "0");
  }),
);

t.test("a role uses its own large objects", async (t) => {
  await server.tenant("lo", ["admin"]);
  await server.expect(201, "POST", "/admin/tenants/lo/users", {
    username: "lo-other",
    password: "correct-horse-battery",
    roles: ["user"],
  });
  const open = async (user: string, password: string) => {
    const client = await WireClient.connect(postgresPort(server));
    client.start({ user, database: "lo" });
    t.equal(await signIn(client, password), null);
    await client.until("Z");
    return client;
  };
  const admin = await open("lo-user", passwordOf("lo"));
  const other = await open("lo-other", "correct-horse-battery");
  t.equal(await answerTo(other, "SELECT lo_from_bytea(1, 'of other')"), "1");
  t.equal(await answerTo(admin, "SELECT lo_from_bytea(2, 'of admin')"), "2");
  t.equal(await answerTo(other, "SELECT length(lo_get(2))"), "8", "without roles, users have all in common");
  await admin.ask("CREATE ROLE somebody; CREATE TABLE of_admin (a int)");
  t.equal(await answerTo(other, "SELECT length(lo_get(1))"), "8");
  t.equal(await answerTo(admin, "SELECT length(lo_get(1))"), "8", "a superuser may");
  const refused = [
    "SELECT lo_get(2)",
    "SELECT lo_put(2, 0, 'x')",
    `SELECT lo_open(2, ${READ})`,
    "SELECT lo_unlink(2)",
    "SELECT * FROM pg_largeobject",
    'SELECT * FROM "_large_objects"',
  ];
  for (const sql of refused) t.equal(await stateOf(other, sql), "42501", sql);
  t.equal(await answerTo(other, "SELECT count(*) FROM pg_largeobject_metadata"), "2");
  t.equal(await answerTo(other, "SELECT lo_unlink(1)"), "1");
  for (const client of [admin, other]) client.send(message("X"));
});
