/** What `tessera cluster check` finds, on the model of the log service and logs on disk. */
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type ClusterCheck, checkCluster, withLogOnDisk } from "../../src/cluster/cluster-check.js";
import type { ClusterView } from "../../src/cluster/cluster-map.js";
import type { LogAppend, Member, Owner, Position } from "../../src/cluster/log-service.js";
import { MemoryLogService } from "../../src/cluster/memory-log-service.js";
import { ReplicatedCommitLog } from "../../src/cluster/replicated-commit-log.js";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";

const NODES = ["a", "b"];

/** Hands out other bytes than were appended. */
class DamagedService extends MemoryLogService {
  damaged = -1;

  override async tail(partition: number, from: Position, appendsMax: number): Promise<readonly LogAppend[]> {
    const page = await super.tail(partition, from, appendsMax);
    return page.map((append) => {
      if (append.position.sequence !== this.damaged) return append;
      const bytes = Uint8Array.from(append.bytes);
      bytes[bytes.length - 1]! ^= 1;
      return { ...append, bytes };
    });
  }
}

/** One partition of two nodes; node a owns it, and its log is on this machine's disk. */
class World {
  readonly service = new DamagedService();
  readonly renewing = new Set(NODES);
  private readonly revisions = new Map<string, number>();
  private log!: ReplicatedCommitLog;
  private next = 1;

  private constructor(readonly directory: string) {}

  static async start(t: Test): Promise<World> {
    const world = new World(join(t.testdir(), "log"));
    await world.renew();
    const epoch = await world.service.claim({ partition: 0, node: "a", tenure: "t", epoch: 0 });
    const local = await FileCommitLog.open({ directory: world.directory, segmentBytes: 3000, retentionBytes: 0 });
    const { service } = world;
    world.log = await ReplicatedCommitLog.open({ service, partition: 0, epoch: epoch!, local });
    t.teardown(() => world.log.close());
    return world;
  }

  /** One is large, and comes in parts. */
  async write(count: number): Promise<void> {
    for (let last = this.next + count; this.next < last; this.next++) {
      const operations = [{ key: Buffer.from(`key ${this.next}`), value: Buffer.alloc(300, this.next) }];
      const commit = { sequence: this.next, micros: this.next, operations };
      if (this.next % 5 !== 0) this.log.append([commit]);
      else {
        const parts = this.log.beginParts();
        for (let part = 0; part < 3; part++)
          this.log.appendPart(parts, [{ key: Buffer.from(`part ${part}`), value: null }]);
        this.log.append([{ ...commit, parts, before: [{ key: Buffer.from("b"), value: null }] }]);
      }
      await this.log.sync();
    }
  }

  async report(node: string, sequence: number): Promise<void> {
    await this.service.report(node, new Map([[0, sequence]]));
  }

  async trim(upTo: number): Promise<void> {
    await this.log.trimReplicated(upTo);
  }

  async renew(): Promise<void> {
    for (const node of this.renewing) {
      const before = this.revisions.get(node) ?? 0;
      const state = { incarnation: node, counter: before, isFenced: false };
      this.revisions.set(node, (await this.service.renew(node, before, state))!);
    }
  }

  async view(): Promise<ClusterView> {
    const owner = await this.service.owner(0);
    const members = new Map<string, Member>();
    for (const node of NODES) {
      const member = await this.service.member(node);
      if (member !== null) members.set(node, member);
    }
    const view = {
      owners: new Map<number, Owner>(owner === null ? [] : [[0, owner]]),
      ...{ members, wants: new Map(), draining: new Map(), copySets: new Map(), checkpoints: new Map() },
      durable: new Map([[0, await this.service.reports(0)]]),
    };
    // Between two views all that are up renew.
    await this.renew();
    return view;
  }

  check(directory = this.directory): Promise<ClusterCheck> {
    const local = { node: "a", logOf: () => directory };
    return checkCluster({ map: this, service: this.service, partitions: 1, copies: 2, silentMs: 0, local });
  }
}

const told = ({ problems }: ClusterCheck): string[] => problems.map(({ what }) => what);

t.test("nothing is wrong where all is as it should be, and all commits are compared", async (t) => {
  const world = await World.start(t);
  t.same(await world.check(), { problems: [], commits: 0, compared: 0 }, "nothing was written yet");
  await world.write(40);
  await world.report("a", 40);
  await world.report("b", 40);
  t.same(await world.check(), { problems: [], commits: 40, compared: 40 });
  await world.trim(20);
  await world.write(5);
  await world.report("a", 45);
  await world.report("b", 45);
  t.same(await world.check(), { problems: [], commits: 25, compared: 25 });
});

t.test("who is behind, has nothing, or is down is named", async (t) => {
  const world = await World.start(t);
  await world.write(30);
  await world.report("a", 30);
  t.same(told(await world.check()), ["b has no copy", "1 nodes have commit 30 on disk, of 2 wanted"]);
  await world.report("b", 12);
  t.same(told(await world.check()), [
    "b is 18 commits behind: it is at 12 of 30",
    "1 nodes have commit 30 on disk, of 2 wanted",
  ]);
  await world.trim(20);
  t.match(told(await world.check())[0], "b is at commit 12, and etcd's log begins at 21: it needs the owner's");
  await world.report("b", 31);
  t.same(told(await world.check()), ["b has commit 31 on its disk, and etcd's log ends at 30"]);
  await world.report("b", 30);
  world.renewing.delete("a");
  t.same(told(await world.check()), ["a is down: it does not renew its lease", "its owner a is down"]);
});

t.test("a damaged log in etcd is found", async (t) => {
  const world = await World.start(t);
  await world.write(30);
  await world.report("a", 30);
  await world.report("b", 30);
  world.service.damaged = 17;
  t.match(told(await world.check()), [/the append at 17 has the digest/]);
});

t.test("a copy on disk that holds something else, or less than was reported, is found", async (t) => {
  const world = await World.start(t);
  await world.write(10);
  await world.report("a", 10);
  await world.report("b", 10);
  const other = join(t.testdir(), "other");
  const log = await FileCommitLog.open({ directory: other });
  for (let sequence = 1; sequence <= 3; sequence++) {
    const value = Buffer.alloc(300, sequence === 3 ? 99 : sequence);
    log.append([{ sequence, micros: sequence, operations: [{ key: Buffer.from(`key ${sequence}`), value }] }]);
  }
  await log.close();
  t.match(told(await world.check(other)), [
    "a has reported commit 10, and in the log on its disk it ends at 3",
    /commit 3 on this machine's disk is not the one that etcd holds/,
  ]);
  t.same(told(await world.check(join(other, "nowhere"))), [
    "a has reported commit 10, and in the log on its disk there is none",
  ]);
});

t.test("looking at a log changes nothing in it, even where its end is torn", async (t) => {
  const world = await World.start(t);
  await world.write(30);
  const names = readdirSync(world.directory).sort();
  t.ok(names.length > 1, "it has several files");
  appendFileSync(join(world.directory, names.at(-1)!), "torn");
  const before = names.map((name) => readFileSync(join(world.directory, name)));
  await withLogOnDisk(world.directory, async (log) => t.equal(log!.lastSequence, 30));
  t.same(readdirSync(world.directory).sort(), names);
  t.same(
    names.map((name) => readFileSync(join(world.directory, name))),
    before,
  );
});
