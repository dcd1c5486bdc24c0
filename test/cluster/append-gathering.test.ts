/** When an append waits for more commits, for how long, and what ends the wait. In virtual time. */
import t from "tap";
import { AppendGathering, MANY_COMMITS } from "../../src/cluster/append-gathering.js";
import { SeededRandom } from "../simulation/seeded-random.js";
import { VirtualLoop } from "../simulation/virtual-loop.js";
import { commit } from "../storage/shards.js";
import { FaultyLogService } from "./faulty-log-service.js";
import { appendsOf, Copy, settle } from "./replicated-copy.js";

async function story(tell: (world: World) => Promise<void>): Promise<void> {
  const loop = new VirtualLoop(1, new SeededRandom(1));
  loop.install();
  try {
    let told: Promise<void> | null = null;
    let isOver = false;
    loop.soon(() => {
      told = tell(new World(loop)).finally(() => {
        isOver = true;
      });
      told.catch(() => undefined);
    });
    await loop.run(() => isOver, 60_000);
    await told;
  } finally {
    loop.uninstall();
  }
}

class World {
  readonly gathering = new AppendGathering();
  queued = 0;

  constructor(readonly loop: VirtualLoop) {}

  /** Commits come after so many milliseconds each. Null: the append begins at once. Else the commits that it has. */
  async next(...comeAfter: readonly number[]): Promise<number | null> {
    const wait = this.gathering.wait(() => this.queued);
    for (const ms of comeAfter) this.loop.after(ms, () => this.gathering.came(++this.queued));
    if (wait === null) return null;
    await wait;
    return this.queued;
  }
}

t.test("a few clients are not waited for", (t) =>
  story(async (world) => {
    t.equal(await world.next(), null, "nor is anybody before the first append");
    world.gathering.appended(3, MANY_COMMITS - 4, 100);
    t.equal(await world.next(), null);
  }),
);

t.test("an append begins when nearly as many have come as were under way", (t) =>
  story(async (world) => {
    world.queued = 10;
    world.gathering.appended(20, 10, 1000);
    const late = Array.from({ length: 20 }, () => 1);
    t.equal(await world.next(...late), 25, "of thirty");
    world.queued = 25;
    world.gathering.appended(20, 10, 1000);
    t.equal(await world.next(), null, "they are there already");
  }),
);

t.test("how long it waits follows from how long the one before took, and is some milliseconds at most", (t) =>
  story(async (world) => {
    for (const [tookMs, commits] of [
      [2, 3],
      [10_000, 4],
    ] as const) {
      world.queued = 0;
      world.gathering.appended(8, 0, tookMs);
      t.equal(await world.next(0.1, 0.1, 0.2, 5, 50), commits);
      await world.loop.sleep(100);
    }
    world.queued = 0;
    world.gathering.appended(8, 0, 8);
    await world.loop.sleep(9);
    t.equal(await world.next(), null, "the time is over before anybody writes");
  }),
);

t.test("clients of the newest appends are waited for, though the last one had few", (t) =>
  story(async (world) => {
    world.gathering.appended(1, 39, 1000);
    world.queued = 0;
    world.gathering.appended(4, 0, 1000);
    t.equal(await world.next(...Array.from({ length: 40 }, () => 1)), 34, "of forty");
    for (let append = 0; append < 3; append++) world.gathering.appended(10, 0, 1000);
    world.queued = 0;
    world.gathering.appended(10, 0, 1000);
    t.equal(await world.next(...Array.from({ length: 40 }, () => 1)), 8, "the others have gone");
  }),
);

t.test("where nobody comes, it is tried again less and less often", (t) =>
  story(async (world) => {
    const tryIn = async (appends: number) => {
      for (let append = 0; append < appends; append++) {
        world.gathering.appended(10, 0, 100);
        t.equal(await world.next(), null);
      }
      world.gathering.appended(10, 0, 100);
    };
    world.gathering.appended(10, 0, 100);
    for (const appends of [1, 2, 4, 8, 16, 16]) {
      t.equal(await world.next(), 0);
      await tryIn(appends);
    }
    t.equal(await world.next(1, 1, 1, 1, 1, 1, 1, 1), 8, "somebody comes again");
    world.queued = 0;
    world.gathering.appended(10, 0, 100);
    t.equal(await world.next(), 0);
    await tryIn(1);
  }),
);

t.test("in the log: the append after one of many commits waits", (t) =>
  story(async ({ loop }) => {
    const service = new FaultyLogService();
    const copy = new Copy(service);
    const shard = await copy.open(t, {}, { manyCommits: 3 });
    service.isSlow = true;
    const write = async (...names: readonly string[]) => {
      for (const name of names) {
        commit(shard, [name, "1"]);
        shard.flush();
        await settle();
      }
    };
    const answer = async () => {
      await loop.sleep(100);
      service.release();
      await settle();
    };
    await write("a", "b", "c", "d", "e");
    await answer();
    await answer();
    await write("f", "g", "h");
    t.equal(service.waitingAppends, 0, "four of five");
    await write("i");
    t.equal(service.waitingAppends, 1);
    await answer();
    await write("j");
    t.equal(service.waitingAppends, 0, "four are waited for");
    await loop.sleep(9);
    t.equal(service.waitingAppends, 1, "in vain");
    await answer();
    await shard.close();
    const appends = (await appendsOf(service)).map(({ first, last }) => `${first}-${last}`);
    t.same(appends, ["1-1", "2-5", "6-9", "10-10"]);
  }),
);
