/**
 * What every log service must do. A case gets a service that others use at the same time, and partitions and nodes of
 * its own; it rejects where the service does otherwise.
 */
import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import type { LogService, MemberState, Position, Revision } from "../../src/cluster/log-service.js";

export interface CaseWorld {
  readonly service: LogService;
  /** A number of a partition that nobody has used, whose successors are free, too. */
  readonly partition: number;
  /** A name that nobody has used. */
  readonly node: string;
  /** Of the fencing race. */
  readonly rounds: number;
}

export type LogServiceCase = (world: CaseWorld) => Promise<void>;

const bytes = (text: string): Buffer => Buffer.from(text);
const at = (sequence: number, part = 0): Position => ({ sequence, part });
const life = (counter: number, incarnation = "a"): MemberState => ({ incarnation, counter, isFenced: false });

async function claimed(service: LogService, partition: number, node: string, epoch: Revision = 0): Promise<Revision> {
  const next = await service.claim({ partition, node, tenure: `${node}-${epoch}`, epoch });
  ok(next !== null, "the claim was refused");
  return next;
}

function put(service: LogService, partition: number, epoch: Revision, position: Position, text: string) {
  return service.append(partition, epoch, { position, bytes: bytes(text) });
}

async function texts(service: LogService, partition: number, from: Position, max = 100): Promise<string[]> {
  const found = await service.tail(partition, from, max);
  return found.map((one) => `${one.position.sequence}.${one.position.part} ${Buffer.from(one.bytes)}`);
}

const OWNERSHIP: Readonly<Record<string, LogServiceCase>> = {
  "a partition has no owner before its first claim": async ({ service, partition }) => {
    equal(await service.owner(partition), null);
  },
  "a claim makes an owner, whose epoch is the claim's answer": async ({ service, partition, node }) => {
    const epoch = await claimed(service, partition, node);
    deepEqual(await service.owner(partition), { node, tenure: `${node}-0`, epoch });
  },
  "a claim that names another epoch is refused and changes nothing": async ({ service, partition, node }) => {
    const epoch = await claimed(service, partition, node);
    for (const wrong of [0, epoch - 1, epoch + 1]) {
      equal(await service.claim({ partition, node: "other", tenure: "t", epoch: wrong }), null);
    }
    equal((await service.owner(partition))!.node, node);
  },
  "epochs of a partition only grow, also with the same node": async ({ service, partition, node }) => {
    let epoch = await claimed(service, partition, node);
    for (let i = 0; i < 3; i++) {
      const next = await claimed(service, partition, node, epoch);
      ok(next > epoch);
      epoch = next;
    }
  },
  "partitions have owners of their own": async ({ service, partition, node }) => {
    const epoch = await claimed(service, partition, node);
    await claimed(service, partition + 1, `${node}-other`);
    equal((await service.owner(partition))!.epoch, epoch);
    equal((await service.owner(partition + 1))!.node, `${node}-other`);
  },
  "of contenders for a partition exactly one wins each round, and only it may append": async (world) => {
    const { service, partition, rounds } = world;
    let epoch: Revision = 0;
    for (let round = 1; round <= rounds; round++) {
      const contenders = ["a", "b", "c", "d", "e", "f"];
      const before = epoch;
      const epochs = await Promise.all(
        contenders.map((node) => service.claim({ partition, node, tenure: `${node}${round}`, epoch: before })),
      );
      const winners = contenders.filter((_, i) => epochs[i] !== null);
      equal(winners.length, 1, `round ${round} was won by ${winners}`);
      epoch = epochs.find((one) => one !== null)!;
      deepEqual(await service.owner(partition), { node: winners[0], tenure: `${winners[0]}${round}`, epoch });
      if (before === 0) continue;
      const attempts = [before, epoch, before].map((each) => put(service, partition, each, at(round), String(each)));
      deepEqual(await Promise.all(attempts), ["fenced", "appended", "fenced"], `round ${round}`);
    }
  },
};

const APPENDS: Readonly<Record<string, LogServiceCase>> = {
  "nobody appends to a partition without an owner": async ({ service, partition }) => {
    equal(await put(service, partition, 1, at(1), "x"), "fenced");
    deepEqual(await texts(service, partition, at(1)), []);
  },
  "what was appended is read back, in order of sequences and parts": async ({ service, partition, node }) => {
    const epoch = await claimed(service, partition, node);
    const places = [at(1), at(2), at(2, 1), at(15), at(16), at(255), at(256), at(2 ** 40, 70_000)];
    for (const place of places) equal(await put(service, partition, epoch, place, "x"), "appended");
    deepEqual(
      (await service.tail(partition, at(1), 100)).map(({ position }) => position),
      places,
    );
  },
  "bytes come back as they were": async ({ service, partition, node }) => {
    const epoch = await claimed(service, partition, node);
    const all = Uint8Array.from({ length: 1 << 20 }, (_, i) => (i * 31) >> 3);
    equal(await service.append(partition, epoch, { position: at(1), bytes: all }), "appended");
    ok(Buffer.from((await service.settle(partition, at(1))).bytes!).equals(all));
    ok(Buffer.from((await service.tail(partition, at(1), 1))[0]!.bytes).equals(all));
  },
  "a place is taken once: the second append there is refused and changes nothing": async (world) => {
    const { service, partition, node } = world;
    const epoch = await claimed(service, partition, node);
    equal(await put(service, partition, epoch, at(7), "first"), "appended");
    equal(await put(service, partition, epoch, at(7), "second"), "taken");
    deepEqual(await texts(service, partition, at(7)), ["7.0 first"]);
  },
  "of appends to one place at the same time exactly one is done": async ({ service, partition, node }) => {
    const epoch = await claimed(service, partition, node);
    for (let round = 1; round <= 20; round++) {
      const attempts = ["a", "b", "c", "d"].map((text) => put(service, partition, epoch, at(round), text));
      const outcomes = await Promise.all(attempts);
      equal(outcomes.filter((outcome) => outcome === "appended").length, 1, `round ${round}: ${outcomes}`);
    }
  },
  "a deposed owner's append is refused, wherever it would stand": async ({ service, partition, node }) => {
    const old = await claimed(service, partition, node);
    equal(await put(service, partition, old, at(1), "old"), "appended");
    const epoch = await claimed(service, partition, `${node}-next`, old);
    equal(await put(service, partition, old, at(1), "late"), "fenced");
    equal(await put(service, partition, old, at(2), "late"), "fenced");
    equal(await put(service, partition, epoch, at(2), "new"), "appended");
    deepEqual(await texts(service, partition, at(1)), ["1.0 old", "2.0 new"]);
  },
  "an epoch counts for its own partition only": async ({ service, partition, node }) => {
    await claimed(service, partition, node);
    const other = await claimed(service, partition + 1, node);
    equal(await put(service, partition, other, at(1), "x"), "fenced");
  },
  "settling tells what stands at a place, and who owns the partition": async ({ service, partition, node }) => {
    deepEqual(await service.settle(partition, at(1)), { owner: null, bytes: null });
    const epoch = await claimed(service, partition, node);
    await put(service, partition, epoch, at(1), "x");
    const { owner, bytes: found } = await service.settle(partition, at(1));
    deepEqual([owner!.epoch, Buffer.from(found!).toString()], [epoch, "x"]);
    equal((await service.settle(partition, at(1, 1))).bytes, null);
  },
};

const TAILS: Readonly<Record<string, LogServiceCase>> = {
  "a tail begins with the append that a position lies in": async ({ service, partition, node }) => {
    const epoch = await claimed(service, partition, node);
    for (const place of [at(1), at(4), at(4, 1), at(9)]) await put(service, partition, epoch, place, "x");
    deepEqual(await texts(service, partition, at(1)), ["1.0 x", "4.0 x", "4.1 x", "9.0 x"]);
    deepEqual(await texts(service, partition, at(3)), ["1.0 x", "4.0 x", "4.1 x", "9.0 x"]);
    deepEqual(await texts(service, partition, at(4)), ["4.0 x", "4.1 x", "9.0 x"]);
    deepEqual(await texts(service, partition, at(4, 1)), ["4.1 x", "9.0 x"]);
    deepEqual(await texts(service, partition, at(4, 9)), ["4.1 x", "9.0 x"]);
    deepEqual(await texts(service, partition, at(8)), ["4.1 x", "9.0 x"]);
    deepEqual(await texts(service, partition, at(99)), ["9.0 x"]);
    deepEqual(await texts(service, partition, at(1), 2), ["1.0 x", "4.0 x"]);
    deepEqual(await texts(service, partition + 1, at(1)), []);
  },
  "a tail of another partition is not mixed in": async ({ service, partition, node }) => {
    // As texts these numbers are neighbours: one begins with the other.
    const [few, many] = [partition, partition * 10];
    await put(service, few, await claimed(service, few, node), at(1), "few");
    await put(service, many, await claimed(service, many, node), at(1), "many");
    deepEqual([await texts(service, few, at(1)), await texts(service, many, at(1))], [["1.0 few"], ["1.0 many"]]);
  },
  "trimming drops what stands before a place, and nothing else": async ({ service, partition, node }) => {
    const epoch = await claimed(service, partition, node);
    for (const place of [at(1), at(4), at(4, 1), at(9)]) await put(service, partition, epoch, place, "x");
    await service.trim(partition, at(4, 1));
    deepEqual(await texts(service, partition, at(1)), ["4.1 x", "9.0 x"]);
    equal((await service.settle(partition, at(4))).bytes, null);
    await service.trim(partition, at(4, 1));
    deepEqual(await texts(service, partition, at(1)), ["4.1 x", "9.0 x"], "a second time");
    equal(await put(service, partition, epoch, at(10), "y"), "appended");
  },
  "what arrives late, after its place was trimmed, is refused": async ({ service, partition, node }) => {
    const epoch = await claimed(service, partition, node);
    for (const place of [at(1), at(4), at(4, 1), at(9)]) await put(service, partition, epoch, place, "x");
    await service.trim(partition, at(9));
    for (const place of [at(1), at(4), at(4, 1), at(8)])
      equal(await put(service, partition, epoch, place, "x"), "taken");
    deepEqual(await texts(service, partition, at(1)), ["9.0 x"]);
  },
  "making room keeps what was not trimmed": async ({ service, partition, node }) => {
    const epoch = await claimed(service, partition, node);
    for (let i = 1; i <= 5; i++) await put(service, partition, epoch, at(i), "x");
    await service.trim(partition, at(4));
    await service.makeRoom();
    deepEqual(await texts(service, partition, at(1)), ["4.0 x", "5.0 x"]);
    equal((await service.owner(partition))!.epoch, epoch);
    equal(await put(service, partition, epoch, at(6), "y"), "appended");
  },
  "copies report how far they are": async ({ service, partition, node }) => {
    await service.report(
      `${node}-1`,
      new Map([
        [partition, 5],
        [partition + 1, 7],
      ]),
    );
    await service.report(`${node}-2`, new Map([[partition, 3]]));
    await service.report(`${node}-1`, new Map([[partition, 6]]));
    deepEqual([...(await service.reports(partition))].sort(), [
      [`${node}-1`, 6],
      [`${node}-2`, 3],
    ]);
    deepEqual([...(await service.reports(partition + 1))], [[`${node}-1`, 7]]);
  },
  "only the owner says which nodes keep copies, and only instead of the set that it names": async (world) => {
    const { service, partition, node } = world;
    const epoch = await claimed(service, partition, node);
    const set = (revision: Revision, nodes: string[], by = epoch) =>
      service.setCopies({ partition, epoch: by, revision, nodes, forgotten: [] });
    equal(await service.copySet(partition), null);
    const first = await set(0, ["a", "b"]);
    ok(first !== null && first > epoch);
    deepEqual(await service.copySet(partition), { nodes: ["a", "b"], revision: first });
    equal(await set(0, ["c"]), null, "there is a set by now");
    equal(await set(first, ["c"], epoch - 1), null, "of another owner");
    const next = await claimed(service, partition, `${node}-next`, epoch);
    equal(await set(first, ["c"]), null, "it was the owner");
    const second = await set(first, ["b", "c"], next);
    deepEqual(await service.copySet(partition), { nodes: ["b", "c"], revision: second });
    equal(await set(first, ["a"], next), null);
    equal(await service.copySet(partition + 1), null);
  },
  "a node that is left out is forgotten, and what it said before arrives no more": async (world) => {
    const { service, partition, node } = world;
    const epoch = await claimed(service, partition, node);
    const [a, b] = [`${node}-a`, `${node}-b`];
    const both = (sequence: number) => new Map([partition, partition + 1].map((one) => [one, sequence] as const));
    const sets = (revision: Revision) => new Map([[partition, revision]]);
    deepEqual(await service.report(a, both(3), sets(0)), new Set([partition, partition + 1]));
    deepEqual(await service.report(b, both(4), sets(0)), new Set([partition, partition + 1]));
    const change = { partition, epoch, revision: 0, nodes: [b], forgotten: [a] };
    const revision = (await service.setCopies(change))!;
    deepEqual([...(await service.reports(partition))], [[b, 4]]);
    deepEqual(await service.report(a, both(5), sets(0)), new Set([partition + 1]));
    deepEqual([...(await service.reports(partition))], [[b, 4]]);
    deepEqual([...(await service.reports(partition + 1))].sort(), [
      [a, 5],
      [b, 4],
    ]);
    deepEqual(await service.report(b, both(6), sets(revision)), new Set([partition, partition + 1]));
    deepEqual([...(await service.reports(partition))], [[b, 6]]);
  },
  "only the owner says what is kept elsewhere, and only instead of what it names": async (world) => {
    const { service, partition, node } = world;
    const epoch = await claimed(service, partition, node);
    const keep = (revision: Revision, id: string, sequence: number, by = epoch) =>
      service.setCheckpoint({ partition, epoch: by, revision, id, sequence, madeMs: sequence * 1000 });
    equal(await service.checkpoint(partition), null);
    const first = await keep(0, "one", 5);
    ok(first !== null && first > epoch);
    deepEqual(await service.checkpoint(partition), { id: "one", sequence: 5, madeMs: 5000, revision: first });
    equal(await keep(0, "two", 6), null, "there is one by now");
    equal(await keep(first, "two", 6, epoch - 1), null, "of another owner");
    const next = await claimed(service, partition, `${node}-next`, epoch);
    equal(await keep(first, "two", 6), null, "it was the owner");
    const second = await keep(first, "three", 7, next);
    deepEqual(await service.checkpoint(partition), { id: "three", sequence: 7, madeMs: 7000, revision: second });
    equal(await service.checkpoint(partition + 1), null);
  },
  "a report of very many partitions": async ({ service, partition, node }) => {
    const all = Array.from({ length: 300 }, (_, i) => partition + i);
    const none = new Map(all.map((one) => [one, 0]));
    const taken = await service.report(node, new Map(all.map((one, i) => [one, i])), none);
    deepEqual([...taken], all);
    deepEqual([...(await service.reports(partition + 299))], [[node, 299]]);
  },
  "the bytes in use are known": async ({ service, partition, node }) => {
    const epoch = await claimed(service, partition, node);
    await service.append(partition, epoch, { position: at(1), bytes: Buffer.alloc(100_000, 1) });
    const { bytes: used, isFull } = await service.usage();
    ok(used >= 100_000);
    equal(isFull, false);
  },
};

const MEMBERS: Readonly<Record<string, LogServiceCase>> = {
  "a node renews only from the revision that it knows": async ({ service, node }) => {
    equal(await service.member(node), null);
    const first = await service.renew(node, 0, life(1));
    ok(first !== null);
    equal(await service.renew(node, 0, life(1, "b")), null);
    const second = await service.renew(node, first, life(2));
    ok(second !== null && second > first);
    equal(await service.renew(node, first, life(2, "b")), null);
    deepEqual(await service.member(node), { ...life(2), revision: second });
  },
  "of renewals from one revision at the same time exactly one is done": async ({ service, node }) => {
    let revision: Revision = 0;
    for (let round = 1; round <= 20; round++) {
      const before = revision;
      const tries = ["a", "b", "c"].map((name) => service.renew(node, before, life(round, name)));
      const done = (await Promise.all(tries)).filter((one) => one !== null);
      equal(done.length, 1, `round ${round}`);
      revision = done[0]!;
    }
  },
  "a partition is taken from a node that was not seen to renew, which is fenced": async (world) => {
    const { service, partition, node } = world;
    const epoch = await claimed(service, partition, node);
    const revision = (await service.renew(node, 0, life(1)))!;
    const unseen = { node, revision };
    const next = await service.claim({ partition, node: `${node}-2`, tenure: "t", epoch, unseen });
    ok(next !== null && next > epoch);
    const member = (await service.member(node))!;
    deepEqual([member.isFenced, member.counter, member.incarnation], [true, 1, "a"]);
    notEqual(member.revision, revision);
    equal(await service.renew(node, revision, life(2)), null, "it renews no more");
    equal(await put(service, partition, epoch, at(1), "x"), "fenced");
  },
  "nothing is taken from a node that has renewed": async ({ service, partition, node }) => {
    const epoch = await claimed(service, partition, node);
    const revision = (await service.renew(node, 0, life(1)))!;
    ok((await service.renew(node, revision, life(2))) !== null);
    const unseen = { node, revision };
    equal(await service.claim({ partition, node: `${node}-2`, tenure: "t", epoch, unseen }), null);
    equal((await service.owner(partition))!.node, node);
    equal((await service.member(node))!.isFenced, false);
  },
  "a takeover and a renewal at the same time: exactly one is done": async ({ service, partition, node }) => {
    let epoch = await claimed(service, partition, node);
    let revision = (await service.renew(node, 0, life(0)))!;
    for (let round = 1; round <= 20; round++) {
      const claim = { partition, node: `${node}-2`, tenure: `t${round}`, epoch, unseen: { node, revision } };
      const [taken, renewed] = await Promise.all([service.claim(claim), service.renew(node, revision, life(round))]);
      ok((taken === null) !== (renewed === null), `round ${round}: ${taken} and ${renewed}`);
      epoch = (await service.owner(partition))!.epoch;
      revision = (await service.member(node))!.revision;
    }
  },
};

export const LOG_SERVICE_CASES: Readonly<Record<string, LogServiceCase>> = {
  ...OWNERSHIP,
  ...APPENDS,
  ...TAILS,
  ...MEMBERS,
};
