/**
 * Messages of Bolt that are cut, changed and mixed: the server answers in the protocol or closes the connection, and
 * goes on. SEED replays one run; TEST_LENGTH makes more of them (test/lengths.ts).
 */
import t from "tap";
import { Random } from "../fuzz/random.js";
import { tries } from "../lengths.js";
import {
  BoltClient,
  begin,
  boltPort,
  commit,
  discard,
  message,
  pull,
  reset,
  rollback,
  run,
  WITH_BOLT,
} from "./bolt-client.js";
import { TestServer } from "./server.js";

// A longer run than that of all tests takes as long as it takes.
t.setTimeout(3_600_000);
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

const TEXTS = [
  "RETURN 1",
  "UNWIND range(1, 50) AS x RETURN x",
  "CREATE (n:Fuzz {x: $x}) RETURN n",
  "MATCH (n:Fuzz) DELETE n",
  "RETURN $x",
  "RETURN 1 / 0",
  "RETUN",
  "",
  "EXPLAIN RETURN 1",
  "CREATE INDEX fuzz IF NOT EXISTS FOR (n:Fuzz) ON (n.x)",
];

function sound(random: Random): Buffer {
  const x = (): unknown => random.one([1, null, "x", [1.5], { a: true }, 2n ** 62n, Buffer.from([1])]);
  const extra = (): object => random.one([{}, { mode: "r" }, { db: "nope" }, { tx_timeout: 5 }, { bookmarks: ["x"] }]);
  const makers: readonly (() => Buffer)[] = [
    () => run(random.one(TEXTS), { x: x() } as never, extra() as never),
    () => run(random.one(TEXTS), {}, {}),
    () => pull(random.one([1, 10, -1, 0, -2]), random.one([-1, 0, 1, 99])),
    () => pull(),
    () => discard(random.one([1, -1]), random.one([-1, 0])),
    () => begin(extra() as never),
    () => commit,
    () => rollback,
    () => reset,
    () => reset,
    () => message("route", {}, [], {}),
    () => message("telemetry", random.below(4)),
    () => message("logoff"),
    // Wrong passwords of the user that the others sign in as would delay these.
    () => message("logon", { scheme: "basic", principal: "nobody", credentials: "x" }),
    () => message("hello", {}),
    () => message("goodbye"),
    () => Buffer.alloc(2),
  ];
  return random.one(makers)();
}

function damaged(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  switch (random.below(4)) {
    case 0:
      return copy.subarray(0, random.below(copy.length + 1));
    case 1:
      copy[random.below(copy.length)] = random.below(256);
      return copy;
    case 2: {
      // Within the message, so that its chunks stay what they are.
      if (copy.length > 4) copy[2 + random.below(copy.length - 4)] = random.below(256);
      return copy;
    }
    default:
      return Buffer.concat([copy, Buffer.from(random.many(20, () => random.below(256)))]);
  }
}

t.test(`messages that are damaged or out of order, seed ${SEED}`, async (t) => {
  const server = await TestServer.start({ ...WITH_BOLT, TESSERA_ACTORS: "1" });
  t.teardown(() => server.stop());
  let signedIn = 0;
  for (let i = 0; i < tries(150); i++) {
    const random = new Random(SEED + i);
    const isIn = random.chance(0.8);
    if (isIn) signedIn++;
    const version = random.one([
      [5, 8],
      [5, 0],
      [4, 4],
    ] as const);
    const client = isIn ? await BoltClient.open(server, version) : await BoltClient.connect(boltPort(server));
    if (!isIn && random.chance(0.7)) await client.shake([0, 0, 8, 5]);
    const count = 1 + random.below(12);
    for (let m = 0; m < count; m++) {
      const bytes = sound(random);
      client.send(random.chance(0.25) ? damaged(random, bytes) : bytes);
    }
    client.socket.end();
    // What comes has to be messages: `receive` throws for others.
    if (isIn) for (let next = await client.receive(); next !== null; ) next = await client.receive();
    else await client.closed();
    client.close();
  }
  const client = await BoltClient.open(server);
  t.same(await client.rows("RETURN 1"), [[1]], "the server goes on");
  const page = (await server.call("GET", "/metrics", undefined, { token: null })).body as string;
  t.match(page, /^tessera_bolt_connections 1$/m, "no connection is left behind");
  const [, passed] = /^tessera_bolt_sign_ins_total\{method="password",outcome="ok"\} (\d+)$/m.exec(page) ?? [];
  t.ok(Number(passed) >= signedIn, `${passed} sign-ins, of ${signedIn} that had to pass`);
  const failures = server.lines.filter((line) => line.includes('"level":50') || line.includes('"level":60'));
  t.same(failures, [], "and logs no failure of its own");
  client.close();
});
