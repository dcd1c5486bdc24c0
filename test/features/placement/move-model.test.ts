/**
 * Moves of a tenant with writers, where an actor is killed, or the power is cut, after every single message: afterwards
 * the tenant is in exactly one partition, with every acknowledged change and none that was not asked for.
 */
import t from "tap";
import { rowPrefix } from "../../../src/storage/keys.js";
import { sized } from "../../lengths.js";
import { ACTORS, World } from "./move-world.js";

const ROWS = 700;
/** Steps in which an actor stays down. */
const DOWN_STEPS = 8;
const STEPS_MAX = 3000;

/** A key's value as its writer knows it; with two values when an answer did not come. */
type Known = Map<string, readonly (string | null)[]>;

function rowKey(tenant: number, row: number): Buffer {
  const key = Buffer.concat([rowPrefix(tenant, 1), Buffer.alloc(4)]);
  key.writeUInt32BE(row, key.length - 4);
  return key;
}

/** Each has rows of its own, which it writes one after the other. */
class Writer {
  private busy = false;
  private count = 0;

  constructor(
    private readonly world: World,
    private readonly tenant: number,
    private readonly index: number,
    private readonly known: Known,
  ) {}

  next(): void {
    if (this.busy || !this.world.actors[0]!.alive) return;
    this.busy = true;
    const row = ((this.count * 37) % (ROWS / 4)) * 4 + this.index;
    const value = this.count % 5 === 4 ? null : `${this.index}/${this.count}`;
    const key = rowKey(this.tenant, row);
    const name = key.toString("hex");
    const before = this.known.get(name) ?? [null];
    this.known.set(name, [...before, value]);
    // Turns that the request takes; the writers get out of step.
    const turns = (this.count + this.index) % 2 === 0 ? 0 : 2 + ((this.count * 5 + this.index * 3) % 11);
    this.count++;
    void this.world.write(this.tenant, key, value, turns).then((how) => {
      if (how === "done") this.known.set(name, [value]);
      else if (how === "refused") this.known.set(name, before);
      this.busy = false;
    });
  }

  get idle(): boolean {
    return !this.busy;
  }
}

type Fault =
  | { readonly kind: "none" }
  | { readonly kind: "lose" }
  | { readonly kind: "kill"; readonly actor: number }
  | { readonly kind: "power" };

interface Outcome {
  readonly problem: string | null;
  readonly delivered: number;
  readonly at: number;
}

async function run(from: number, to: number, fault: Fault, after: number): Promise<Outcome> {
  const world = await World.open();
  world.directory.createTenant({ id: "nomad" });
  const { number: tenant, partition } = world.directory.placeOf("nomad");
  if (partition !== from) world.directory.relocateTenant("nomad", from);
  const known: Known = new Map();
  const source = world.actors[from]!.partition;
  const tx = source.shard.begin();
  for (let row = 0; row < ROWS; row++) {
    tx.put(rowKey(tenant, row), Buffer.from("first"));
    known.set(rowKey(tenant, row).toString("hex"), ["first"]);
  }
  tx.commit();
  for (const { partition: one } of world.actors) {
    one.shard.flush();
    await one.durable();
  }
  const writers = [0, 1, 2, 3].map((index) => new Writer(world, tenant, index, known));
  world.moves.start("nomad", to, 20);
  let isFaulty = fault.kind === "none";
  if (fault.kind === "lose") {
    isFaulty = true;
    world.loses = { after, count: after % 2 === 0 ? 1 : 4 };
  }
  let restartAt = -1;
  let kept: ReturnType<World["kill"]> = [];
  let quiet = 0;
  for (let step = 0; step < STEPS_MAX && quiet < 60; step++) {
    if (quiet === 0) for (const writer of writers) writer.next();
    if (!isFaulty && world.delivered >= after) {
      isFaulty = true;
      if (fault.kind === "power") await world.cutPower();
      else if (fault.kind === "kill") {
        kept = world.kill(fault.actor, "all");
        world.ended(fault.actor);
        restartAt = step + DOWN_STEPS;
      }
    }
    if (step === restartAt && fault.kind === "kill") await world.restart(fault.actor, kept);
    await world.step();
    // Whoever waits for what was lost asks, and the directory gives up.
    if (fault.kind === "lose" && step % 400 === 399) world.skip(70_000);
    const isOver =
      isFaulty &&
      step > restartAt &&
      (fault.kind !== "lose" || !world.moves.isMoving) &&
      world.actors.every(({ partition }) => isSettled(partition));
    quiet = isOver ? quiet + 1 : 0;
  }
  return {
    problem: problemOf(world, tenant, known, writers) ?? untold(world, to),
    delivered: world.delivered,
    at: world.directory.placeOf("nomad").partition,
  };
}

function isSettled({ places, exports }: World["actors"][number]["partition"]): boolean {
  return exports.size === 0 && places.entries().every(([, place]) => place.kind === "gone" && place.clean);
}

function problemOf(world: World, tenant: number, known: Known, writers: readonly Writer[]): string | null {
  if (!writers.every(({ idle }) => idle)) return "a request has no answer";
  const { partition: at } = world.directory.placeOf("nomad");
  for (let number = 0; number < ACTORS; number++) {
    const actor = world.actors[number]!;
    if (!isSettled(actor.partition)) return `partition ${number} is not settled`;
    const entries = actor.entriesOf(tenant);
    if (number !== at) {
      if (entries.size > 0) return `partition ${number} has ${entries.size} entries left`;
      continue;
    }
    for (const key of entries.keys()) if (!known.has(key)) return `an entry from nowhere: ${key}`;
    for (const [key, values] of known) {
      const value = entries.get(key) ?? null;
      if (!values.includes(value)) return `${key} is ${value}, not ${values.join(" or ")}`;
    }
  }
  return null;
}

/** What clients are told of the move must be how it ended; one that was forgotten never began. */
function untold(world: World, to: number): string | null {
  const { partition: at } = world.directory.placeOf("nomad");
  let move: ReturnType<World["moves"]["get"]>;
  try {
    move = world.moves.get("nomad");
  } catch {
    return at === to ? "the move is forgotten" : null;
  }
  const states = at === to ? ["done"] : ["failed"];
  const isTold = states.includes(move.state) && move.finished_at !== null;
  return isTold ? null : `the move is ${move.state}, the tenant in partition ${at}`;
}

/** A fault comes after each so many-th message. */
const EVERY = sized(3, 1);

const ROUTES = [
  [1, 2],
  [0, 1],
  [2, 0],
] as const;

t.test("a move ends where it should", async (t) => {
  for (const [from, to] of ROUTES) {
    const { problem, at, delivered } = await run(from, to, { kind: "none" }, 0);
    t.equal(problem, null);
    t.equal(at, to);
    t.comment(`${delivered} messages`);
  }
});

t.test("an order to take a tenant that is at home there removes nothing", async (t) => {
  const world = await World.open();
  world.directory.createTenant({ id: "nomad" });
  const { number: tenant, partition: home } = world.directory.placeOf("nomad");
  const { partition, placement, entriesOf } = world.actors[home]!;
  const tx = partition.shard.begin();
  tx.put(rowKey(tenant, 1), Buffer.from("first"));
  tx.commit();
  const before = entriesOf.call(world.actors[home], tenant);
  // Of a directory that has decided nothing, or of a move that was forgotten since.
  placement.hear(home, { do: "receive", tenant, move: "an old one", from: (home + 1) % ACTORS });
  for (let step = 0; step < 30; step++) await world.step();
  world.skip(70_000);
  for (let step = 0; step < 30; step++) await world.step();
  t.same(entriesOf.call(world.actors[home], tenant), before);
  t.ok(isSettled(partition));
});

t.test("word of an old move does not bring a tenant back that has left since", async (t) => {
  const world = await World.open();
  world.directory.createTenant({ id: "nomad" });
  const { number: tenant, partition: home } = world.directory.placeOf("nomad");
  const { partition, placement } = world.actors[home]!;
  const gone = { kind: "gone", to: (home + 1) % ACTORS, clean: true } as const;
  partition.places.set(tenant, gone);
  // That move was cancelled before the one by which the tenant left.
  placement.hear(home, { do: "settle", tenant, at: home, move: "an old one" });
  t.same(partition.places.get(tenant), gone);
});

/** The target refuses a commit after so many messages, and the directory never hears of it. */
async function refusedAfter(after: number): Promise<string | null> {
  const world = await World.open();
  world.directory.createTenant({ id: "nomad" });
  const { number: tenant, partition: home } = world.directory.placeOf("nomad");
  const [source, target] = [world.actors[home]!, world.actors[(home + 1) % ACTORS]!];
  // It was there before.
  target.partition.places.set(tenant, { kind: "gone", to: home, clean: true });
  const tx = source.partition.shard.begin();
  for (let row = 0; row < ROWS; row++) tx.put(rowKey(tenant, row), Buffer.from(`of row ${row}`));
  tx.commit();
  for (const { partition } of world.actors) {
    partition.shard.flush();
    await partition.durable();
  }
  const before = source.entriesOf(tenant);
  const heard = world.moves.heard.bind(world.moves);
  world.moves.heard = (report) => (report.did === "failed" ? undefined : heard(report));
  world.moves.start("nomad", target.partition.number, 20);
  for (let step = 0; step < 1000; step++) {
    if (world.delivered === after) target.log.isFull = true;
    await world.step();
    if (step % 200 === 199) world.skip(70_000);
  }
  const at = world.actors[world.directory.placeOf("nomad").partition]!;
  const place = at.partition.places.get(tenant);
  if (place !== undefined) return `after ${after}: it is ${place.kind} where the directory says that it is`;
  return at.entriesOf(tenant).size === before.size ? null : `after ${after}: entries are lost`;
}

t.test("a target takes nothing more when it has refused a commit, though nobody hears of that", async (t) => {
  const problems: (string | null)[] = [];
  for (let after = 0; after < 12; after++) problems.push(await refusedAfter(after));
  t.same(
    problems.filter((problem) => problem !== null),
    [],
  );
});

for (const [from, to] of ROUTES) {
  t.test(`from ${from} to ${to}, messages lost`, async (t) => {
    const { delivered } = await run(from, to, { kind: "none" }, 0);
    const problems: string[] = [];
    for (let after = 0; after <= delivered; after += EVERY) {
      const { problem } = await run(from, to, { kind: "lose" }, after);
      if (problem !== null) problems.push(`after ${after}: ${problem}`);
    }
    t.same(problems, []);
  });
  const faults: Fault[] = [0, 1, 2].map((actor) => ({ kind: "kill", actor }));
  for (const fault of [...faults, { kind: "power" } as const]) {
    const what = fault.kind === "kill" ? `actor ${fault.actor} killed` : "the power cut";
    t.test(`from ${from} to ${to}, ${what} after each message`, async (t) => {
      const { delivered } = await run(from, to, { kind: "none" }, 0);
      const ends = new Set<number>();
      const problems: string[] = [];
      for (let after = 0; after <= delivered; after += EVERY) {
        const { problem, at } = await run(from, to, fault, after);
        if (problem !== null) problems.push(`after ${after}: ${problem}`);
        ends.add(at);
      }
      t.same(problems, []);
      const takesPart = fault.kind !== "kill" || fault.actor === 0 || fault.actor === from || fault.actor === to;
      t.same(
        ends,
        new Set(takesPart ? [from, to] : [to]),
        "early faults leave the tenant where it was, late ones do not",
      );
    });
  }
}
