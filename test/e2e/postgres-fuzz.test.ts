/**
 * Messages of PostgreSQL's protocol that are cut, changed and mixed: the server answers in the protocol or closes the
 * connection, and goes on. SEED replays one run; TEST_LENGTH makes more of them (test/lengths.ts).
 */
import t from "tap";
import { Random } from "../fuzz/random.js";
import { tries } from "../lengths.js";
import { TestServer } from "./server.js";
import {
  bind,
  describe,
  execute,
  int16,
  int32,
  lettersOf,
  message,
  parse,
  postgresPort,
  query,
  sync,
  valuesOf,
  WITH_POSTGRES,
  WireClient,
} from "./wire-client.js";
import { initial } from "./wire-sign-in.js";

// A longer run than that of all tests takes as long as it takes.
t.setTimeout(3_600_000);
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

const TEXTS = [
  "SELECT 1",
  "SELECT $1::int",
  "BEGIN",
  "COMMIT",
  "SELECT nope",
  "COPY fuzz FROM STDIN",
  "COPY fuzz FROM STDIN (FORMAT binary)",
  "COPY fuzz TO STDOUT (FORMAT binary)",
  "COPY (SELECT i, repeat('x', 70000) FROM generate_series(1, 5) i) TO STDOUT",
  "SELECT i FROM generate_series(1, 3000) i",
  "SELECT 1; SELECT 1 / 0; SELECT 2",
  "LISTEN fuzz",
  "NOTIFY fuzz, 'told'",
  "SELECT pg_advisory_lock_shared(1)",
  "DISCARD ALL",
  "SET datestyle = 'German'",
  "SELECT 'x",
  "",
  ";;",
];

/** Types whose binary forms are read piece by piece, and what a client may send for any of them. */
const BINARY_TYPES =
  "int[] numeric timestamptz jsonb interval inet varbit int4range int4multirange vector polygon uuid timetz hstore ltree lquery[] ltxtquery tsquery halfvec sparsevec".split(
    " ",
  );

function binaryValue(random: Random): Buffer {
  const length = random.one([0, 1, 2, 4, 8, 12, 16, 20, 40]);
  const most = random.one([2, 256]);
  return Buffer.from(Array.from({ length }, () => random.below(most)));
}

/** A value in binary, of one of those types. */
function binaryCall(random: Random): Buffer {
  const value = binaryValue(random);
  return Buffer.concat([
    parse("b", `SELECT $1::${random.one(BINARY_TYPES)}`),
    message("B", "", "b", int16(1), int16(1), int16(1), int32(value.length), value, int16(1), int16(random.below(2))),
    execute("", 0),
    message("C", Buffer.from("S"), "b"),
  ]);
}

/** OIDs of functions of large objects, of length, of a set and of nothing. */
const FUNCTIONS = [715, 952, 953, 954, 955, 956, 957, 964, 1004, 1317, 1067, 1];

/** A function call message, most of them with as many arguments as are wanted. */
function functionCall(random: Random): Buffer {
  const args = Array.from({ length: random.one([0, 1, 2, 2, 3]) }, () => {
    const value = random.chance(0.5) ? int32(random.one([0, 1, 7, 0x60000, -1])) : binaryValue(random);
    return random.chance(0.9) ? Buffer.concat([int32(value.length), value]) : int32(-1);
  });
  const format = int16(random.below(2));
  const list = Buffer.concat([int16(args.length), ...args]);
  return message("F", int32(random.one(FUNCTIONS)), int16(1), format, list, int16(random.below(2)));
}

/** Rows of COPY's binary format, or nearly. */
function binaryRows(random: Random): Buffer {
  const head = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
  const row = [int16(2), int32(4), binaryValue(random), int32(random.one([-1, 2, 1 << 30])), binaryValue(random)];
  return message("d", Buffer.concat([random.chance(0.8) ? head : Buffer.alloc(0), ...row, int16(-1)]));
}

function sound(random: Random): Buffer {
  const makers: readonly (() => Buffer)[] = [
    () => query(random.one(TEXTS)),
    () => parse(random.one(["", "s"]), random.one(TEXTS), random.one([[], [23], [0], [99]])),
    () => bind(random.one(["", "p"]), random.one(["", "s"]), random.one([[], ["1"], [null], ["x"]])),
    () => describe(random.one(["S", "P"] as const), random.one(["", "s", "p"])),
    () => execute(random.one(["", "p"]), random.one([0, 1, -1])),
    () => message("C", Buffer.from(random.one(["S", "P", "x"])), random.one(["", "s"])),
    () => sync,
    () => message("H"),
    () => message("d", Buffer.from("1\ta\n")),
    () => binaryRows(random),
    () => binaryCall(random),
    () => message("c"),
    () => message("f", "no"),
    () => message("F", int32(random.below(100))),
    () => functionCall(random),
  ];
  return random.one(makers)();
}

/** Of a sign-in. */
function credential(random: Random): Buffer {
  const makers: readonly (() => Buffer)[] = [
    () => message("p", random.one(["", "wrong", "ak_wrong"])),
    () =>
      initial(random.one(["SCRAM-SHA-256", "SCRAM-SHA-256-PLUS", ""]), random.one(["n,,n=,r=x", "p=y,,n=,r=x", ""])),
    () => message("p", Buffer.from(`c=biws,r=x,p=${"A".repeat(random.one([0, 43, 64]))}=`)),
  ];
  return random.one(makers)();
}

function broken(message: Buffer, random: Random): Buffer {
  const bytes = Buffer.from(message);
  switch (random.below(4)) {
    case 0:
      return bytes.subarray(0, random.below(bytes.length));
    case 1:
      for (let i = 0; i < 3; i++) bytes[random.below(bytes.length)] = random.below(256);
      return bytes;
    case 2:
      return Buffer.concat([bytes, Buffer.alloc(random.below(8), random.below(256))]);
    default:
      return Buffer.from(Array.from({ length: random.below(40) }, () => random.below(256)));
  }
}

t.test(`the server stands what is no protocol (SEED=${SEED})`, async (t) => {
  const server = await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" });
  t.teardown(() => server.stop());
  const healthy = await WireClient.open(server);
  await healthy.ask("CREATE TABLE fuzz (i int, s text)");
  const rounds = tries(60);
  for (let round = 0; round < rounds; round++) {
    const random = new Random(SEED + round);
    const signsIn = random.below(4) > 0;
    const client = signsIn ? await WireClient.open(server) : await WireClient.connect(postgresPort(server));
    const begins = !signsIn && random.below(2) === 0;
    if (begins) client.start({ user: random.one(["admin", "nobody", "key"]) });
    const of = begins ? credential : sound;
    const messages = Array.from({ length: 1 + random.below(12) }, () =>
      random.below(5) === 0 ? broken(of(random), random) : of(random),
    );
    client.send(...messages);
    if (random.below(2) === 0) client.send(message("c"), sync, query("SELECT 1"));
    await Promise.race([client.until("E"), new Promise((resolve) => setTimeout(resolve, 20))]);
    client.close();
  }
  const [, row] = await healthy.ask("SELECT 41 + 1");
  t.same(valuesOf(row!), ["42"], "another session goes on");
  const fresh = await WireClient.open(server);
  t.equal(lettersOf(await fresh.ask("SELECT 1")), "TDCZ");
  t.notOk(
    server.lines.some((line) => /request failed|uncaught|unhandled/i.test(line)),
    "nothing failed unexpectedly",
  );
});
