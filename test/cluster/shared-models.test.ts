/** Models that all nodes of a cluster shall have: libraries over etcd, and over the link between nodes. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { findBundle } from "../../src/ai/bundle.js";
import { librarySettings } from "../../src/ai/library/library-settings.js";
import { type HeldBundle, type LibrarySettings, ModelLibrary } from "../../src/ai/library/model-library.js";
import { PeerSource } from "../../src/ai/library/peer-source.js";
import { stepsOf, WishKeeper } from "../../src/ai/library/wish-keeper.js";
import { isBundleRead } from "../../src/cluster/bundle-messages.js";
import { BundleServer } from "../../src/cluster/bundle-server.js";
import { EtcdLogService } from "../../src/cluster/etcd-log-service.js";
import { listenToPeers, PeerConnection, peerKey } from "../../src/cluster/peer-link.js";
import { EtcdModels } from "../../src/cluster/shared-models.js";
import type { ModelWish } from "../../src/protocol/shared-models.js";
import { temporaryFolder } from "../ai/library/library-fixture.js";
import { publish, sha256, type TinyBundle, tinyBundle } from "../ai/tiny-bundle.js";
import { freePort } from "../free-port.js";
import { EtcdMember, NO_ETCD } from "./etcd.js";

const KEY = peerKey(Buffer.from("a secret"));
const digestOf = ({ files }: TinyBundle): string => sha256(files.get("manifest.json")!);

t.test("what is to be done", async (t) => {
  const wanted = (model: string, digest: string): ModelWish => ({ state: "wanted", model, digest, sinceMs: 1 });
  const deleted: ModelWish = { state: "deleted", sinceMs: 1 };
  const pulled = (digest: string, tag = "latest"): HeldBundle => ({ digest, tag, isOwn: false });
  const ids = (wish: ModelWish, bundle?: HeldBundle): [number, number] => {
    const { pull, drop } = stepsOf(new Map([["m", wish]]), new Map(bundle === undefined ? [] : [["m", bundle]]));
    return [pull.length, drop.length];
  };
  t.same(ids(wanted("m:latest", "a")), [1, 0], "it is missing");
  t.same(ids(wanted("m:latest", "a"), pulled("a")), [0, 0], "it is here");
  t.same(ids(wanted("m:latest", "b"), pulled("a")), [1, 0], "another one is here");
  t.same(ids(wanted("m:v2", "a"), pulled("a")), [1, 0], "it is here by another tag");
  t.same(ids(wanted("m:latest", "a"), { ...pulled("a"), tag: null }), [0, 0], "somebody put it there");
  t.same(ids(deleted, pulled("a")), [0, 1], "it was deleted elsewhere");
  t.same(ids(deleted), [0, 0], "it is gone");
  t.same(ids(deleted, { ...pulled("a"), tag: null }), [0, 0], "what somebody put there by hand stays");
  t.same(ids(deleted, { ...pulled("a"), isOwn: true }), [0, 0], "what comes with the program stays");
  t.same(ids(wanted("m:latest", "b"), { ...pulled("a"), isOwn: true }), [0, 0], "and is not replaced");
});

interface TestNode {
  readonly root: string;
  readonly library: ModelLibrary;
  readonly keeper: WishKeeper;
  readonly models: EtcdModels;
  readonly warnings: [string, object][];
  readonly world: { nowMs: number; isInUse: boolean; changes: number };
  /** One look, and what it has begun. */
  look(): Promise<void>;
  pulled(model: string): Promise<{ readonly status: string; readonly source: string | null }>;
  has(id: string): string | null;
}

interface World {
  readonly endpoint: string;
  node(name: string, sources: readonly string[], settings?: Partial<LibrarySettings>, root?: string): Promise<TestNode>;
}

async function worldOf(t: Test): Promise<World> {
  const member = await EtcdMember.start();
  const { endpoint } = member;
  const service = new EtcdLogService({ endpoints: [endpoint], installation: "test" });
  const ends: (() => void)[] = [];
  t.teardown(async () => {
    for (const end of ends) end();
    await service.close();
    await member.end();
  });
  const pull = { bytesMax: 10_000_000, freeBytesMin: 0, retries: 0, idleSeconds: 1, timeoutSeconds: 30 };
  return {
    endpoint,
    async node(name, sources, changed = {}, root = join(temporaryFolder(t), "root")) {
      mkdirSync(root, { recursive: true });
      const models = new EtcdModels({ endpoints: [endpoint], name: "test", node: name, peerKey: KEY });
      const address = `127.0.0.1:${await freePort()}`;
      const bundles = new BundleServer(root, () => undefined);
      const server = await listenToPeers(address, KEY, (socket) => {
        const connection: PeerConnection = new PeerConnection(socket, {
          frames: () => undefined,
          control: (_partition, message) => {
            if (isBundleRead(message)) bundles.heard(message, (answer) => connection.control(0, answer));
          },
          closed: () => undefined,
        });
      });
      ends.push(() => server.close());
      await service.renew(name, 0, { incarnation: name, counter: 1, isFenced: false, address });
      ends.push(() => models.close());
      const world = { nowMs: 1_000_000, isInUse: false, changes: 0 };
      const warnings: [string, object][] = [];
      const config = { modelRoot: root, embeddingModel: "default-model", pull: { ...pull, sources } };
      const around = {
        letGo: async () => !world.isInUse,
        changed: () => {
          world.changes++;
        },
        log: (level: "info" | "warn", message: string, fields: object) => {
          if (level === "warn") warnings.push([message, fields]);
        },
      };
      const settings = { ...librarySettings(config, join(root, "..", "bundled"), models), backoffMs: 1, ...changed };
      const library = new ModelLibrary(settings, around);
      const keeper = new WishKeeper(library, models, around, () => world.nowMs);
      return {
        ...{ root, library, keeper, models, warnings, world },
        async look() {
          await keeper.look();
          await keeper.idle();
          // What was pulled is told at the next look.
          await keeper.look();
          await keeper.idle();
        },
        pulled: (model) => library.follow(library.pull(model).id, () => undefined).ended,
        has: (id) => findBundle(join(root, id))?.digest ?? null,
      };
    },
  };
}

t.test("what one node pulls the others pull, and what one deletes the others delete", { skip: NO_ETCD }, async (t) => {
  const folder = temporaryFolder(t);
  const [first, second] = [tinyBundle("tiny"), tinyBundle("tiny", 0, { revision: "2" })];
  publish(folder, first, "tiny");
  const world = await worldOf(t);
  const n1 = await world.node("n1", [folder]);
  const n2 = await world.node("n2", [folder]);
  await n1.look();
  await n2.look();
  t.match(await n1.pulled("tiny"), { status: "completed", source: folder });
  t.equal(n2.has("tiny"), null);
  await n2.look();
  t.equal(n2.has("tiny"), digestOf(first));
  t.ok(n2.world.changes > 0, "its actors are told");
  await n1.look();
  const { wishes, nodes } = await n1.models.view();
  t.match([...wishes], [["tiny", { state: "wanted", model: "tiny:latest", digest: digestOf(first) }]]);
  t.same(
    [...nodes].map(([node, told]) => [node, told?.has.tiny, told?.problems]),
    [
      ["n1", digestOf(first), {}],
      ["n2", digestOf(first), {}],
    ],
  );

  publish(folder, second, "tiny");
  await n2.pulled("tiny");
  t.equal(n2.has("tiny"), digestOf(second));
  await n1.look();
  t.equal(n1.has("tiny"), digestOf(second), "another bundle of the same name is pulled anew");

  n2.world.isInUse = true;
  t.equal(await n1.library.delete("tiny"), "tiny");
  t.equal(n1.has("tiny"), null);
  await n2.look();
  t.equal(n2.has("tiny"), digestOf(second), "long requests go on");
  t.match(n2.warnings, [[/deleted is still on this node/, { model: "tiny", problem: /in use by long requests/ }]]);
  t.match((await n1.models.view()).nodes.get("n2"), { problems: { tiny: /in use by long requests/ } });
  n2.world.isInUse = false;
  await n2.look();
  t.equal(n2.has("tiny"), digestOf(second), "it is not tried again at once");
  n2.world.nowMs += 5000;
  await n2.look();
  t.equal(n2.has("tiny"), null);
  t.same((await n1.models.view()).nodes.get("n2"), { has: {}, problems: {} });
  await n1.look();
  t.equal(n1.has("tiny"), null, "nobody brings it back");

  await n1.pulled("tiny");
  await n1.look();
  await n2.look();
  t.same([n1.has("tiny"), n2.has("tiny")], [digestOf(second), digestOf(second)], "until it is pulled again");
});

t.test("what fails changes nothing for others", { skip: NO_ETCD }, async (t) => {
  const folder = temporaryFolder(t);
  publish(folder, tinyBundle("tiny"), "tiny");
  const world = await worldOf(t);
  const n1 = await world.node("n1", [folder]);
  t.match(await n1.pulled("nothing"), { status: "failed", error: { code: "model_not_found" } });
  t.equal((await n1.models.view()).wishes.size, 0);
  // In the way where the bundle shall be put together.
  const place = join(n1.root, ".pulling", "tiny", "bundle");
  const { set } = n1.models;
  n1.models.set = async (...args) => {
    mkdirSync(place, { recursive: true });
    return set.apply(n1.models, args);
  };
  t.match(await n1.pulled("tiny"), { status: "failed" });
  t.equal((await n1.models.view()).wishes.size, 0, "what could not be installed is taken back");
  n1.models.set = set;
  await n1.pulled("tiny");
  n1.world.isInUse = true;
  await t.rejects(n1.library.delete("tiny"), { code: "model_in_use" });
  t.match((await n1.models.view()).wishes.get("tiny"), { state: "wanted" }, "a refused deletion");
  n1.world.isInUse = false;
  n1.models.set = async () => {
    throw new Error("etcd is silent");
  };
  const changes = n1.world.changes;
  await t.rejects(n1.library.delete("tiny"), { message: "etcd is silent" });
  t.ok(n1.has("tiny") !== null, "it is still here");
  t.ok(n1.world.changes > changes, "and is served again");
});

t.test("a wish is taken back only if nobody has said something since", { skip: NO_ETCD }, async (t) => {
  const world = await worldOf(t);
  const { models } = await world.node("n1", []);
  const wanted = (digest: string): ModelWish => ({ state: "wanted", model: "m:latest", digest, sinceMs: 1 });
  const change = await models.set("m", wanted("a"));
  t.equal(await models.set("m", wanted("a")), null, "it was so already");
  const second = await models.set("m", wanted("b"));
  await models.takeBack(change!);
  t.match(await models.wish("m"), { digest: "b" });
  await models.takeBack(second!);
  t.match(await models.wish("m"), { digest: "a" });
  await models.setFirst("m", wanted("c"));
  t.match(await models.wish("m"), { digest: "a" });
});

t.test("a deletion that was overtaken by a pull deletes nothing", { skip: NO_ETCD }, async (t) => {
  const folder = temporaryFolder(t);
  publish(folder, tinyBundle("tiny"), "tiny");
  const world = await worldOf(t);
  const n1 = await world.node("n1", [folder]);
  await n1.pulled("tiny");
  await n1.models.set("tiny", { state: "deleted", sinceMs: 1 });
  const { view } = n1.models;
  n1.models.view = async () => {
    const old = await view.call(n1.models);
    await n1.pulled("tiny");
    n1.models.view = view;
    return old;
  };
  // Once: a second look would pull it again.
  await n1.keeper.look();
  t.ok(n1.has("tiny") !== null);
  t.match(await n1.models.wish("tiny"), { state: "wanted" });
});

t.test("what was pulled before there was a cluster all nodes get", { skip: NO_ETCD }, async (t) => {
  const folder = temporaryFolder(t);
  const [tiny, gone] = [tinyBundle("tiny"), tinyBundle("gone")];
  publish(folder, tiny, "tiny", "v2");
  publish(folder, gone, "gone");
  const world = await worldOf(t);
  const alone = await world.node("n0", [folder], { shared: null });
  await alone.pulled("tiny:v2");
  await alone.pulled("gone");
  writeByHand(alone.root, tinyBundle("by-hand"));
  await alone.models.set("gone", { state: "deleted", sinceMs: 1 });
  const n1 = await world.node("n1", [folder], {}, alone.root);
  await n1.look();
  const { wishes } = await n1.models.view();
  t.same([...wishes.keys()], ["gone", "tiny"]);
  t.match(wishes.get("tiny"), { state: "wanted", model: "tiny:v2", digest: digestOf(tiny) });
  t.equal(n1.has("gone"), null, "what was deleted goes");
  t.ok(n1.has("by-hand") !== null);
  const n2 = await world.node("n2", [folder]);
  await n2.look();
  t.match(findBundle(join(n2.root, "tiny")), { pulled: { tag: "v2", source: folder }, problem: null });
});

t.test("other nodes give what no source has, and what sources have no more", { skip: NO_ETCD }, async (t) => {
  const [folder, other] = [temporaryFolder(t), temporaryFolder(t)];
  // More than the pieces in which it comes.
  const [big, newer] = [tinyBundle("big", 1_300_000), tinyBundle("big", 1_300_000, { revision: "2" })];
  publish(folder, big, "big");
  publish(other, newer, "big");
  const world = await worldOf(t);
  const n1 = await world.node("n1", [folder]);
  await n1.pulled("big");
  const n2 = await world.node("n2", [join(folder, "is-not-there")]);
  await n2.look();
  t.equal(n2.has("big"), null, "n1 has not said yet that it has it");
  t.match(n2.warnings, [
    [/name a source that has it in ai.pull.sources/, { model: "big:latest", problem: /No source/ }],
  ]);
  t.match((await n2.models.view()).nodes.get("n2"), { has: {}, problems: { big: /No source/ } });
  await n1.look();
  await n2.look();
  t.equal(n2.has("big"), digestOf(big), "there is another one to ask, so it is asked at once");
  t.match(findBundle(join(n2.root, "big")), { pulled: { source: "other nodes" }, problem: null });
  t.equal(sha256(readFileSync(join(n2.root, "big", "padding.bin"))), sha256(big.files.get("padding.bin")!));
  t.equal(n2.warnings.length, 1, "it is said once");

  const n3 = await world.node("n3", [other]);
  await n3.look();
  t.equal(n3.has("big"), digestOf(big), "its source has another bundle of that name");
  const n4 = await world.node("n4", []);
  t.match(await n4.pulled("big"), { status: "completed", source: "other nodes" }, "a client may ask for it, too");
});

t.test("a node that gives something else is found out", { skip: NO_ETCD }, async (t) => {
  const folder = temporaryFolder(t);
  const big = tinyBundle("big", 600_000);
  publish(folder, big, "big");
  const world = await worldOf(t);
  const n1 = await world.node("n1", [folder]);
  await n1.pulled("big");
  await n1.look();
  const bytes = Buffer.from(big.files.get("padding.bin")!);
  bytes[550_000]! ^= 1;
  writeFileSync(join(n1.root, "big", "padding.bin"), bytes);
  const n2 = await world.node("n2", []);
  await n2.look();
  t.equal(n2.has("big"), null);
  t.match(n2.warnings, [[/lacks a model/, { problem: /padding.bin is not what was offered/ }]]);
  rmSync(join(n1.root, "big"), { recursive: true });
  n2.world.nowMs += 10_000;
  await n2.look();
  t.equal(n2.has("big"), null);
  t.match(n2.warnings[1], [/lacks a model/, { problem: /has no manifest.json here/ }]);
});

t.test("a manifest that is not the one that was asked for is not taken", async (t) => {
  const [asked, given] = [tinyBundle("tiny"), tinyBundle("tiny", 0, { revision: "2" })];
  const digest = digestOf(asked);
  const sourceOf = ({ files }: TinyBundle): PeerSource => {
    const wish: ModelWish = { state: "wanted", model: "tiny:latest", digest, sinceMs: 1 };
    const stream = async function* () {
      yield files.get("manifest.json")!;
    };
    return new PeerSource({
      node: "n1",
      view: async () => ({
        wishes: new Map([["tiny", wish]]),
        nodes: new Map([["n2", { has: { tiny: digest }, problems: {} }]]),
      }),
      open: async () => ({ bytesTotal: 1, stream: stream() }),
    });
  };
  const model = { name: "tiny", tag: "latest" };
  const { signal } = new AbortController();
  t.match(await sourceOf(asked).find(model, signal), { id: "tiny", digest });
  await t.rejects(sourceOf(given).find(model, signal), { message: /not the one that was asked for/ });
});

t.test("a model that this node does not have yet can be deleted", { skip: NO_ETCD }, async (t) => {
  const folder = temporaryFolder(t);
  publish(folder, tinyBundle("tiny"), "tiny", "v2");
  const world = await worldOf(t);
  const n1 = await world.node("n1", [folder]);
  await n1.pulled("tiny:v2");
  const n2 = await world.node("n2", []);
  await t.rejects(n2.library.delete("tiny:v3"), { code: "model_not_found" });
  t.equal(await n2.library.delete("tiny:v2"), "tiny");
  await n1.look();
  t.notOk(existsSync(join(n1.root, "tiny")));
  await t.rejects(n2.library.delete("tiny"), { code: "model_not_found" });
});

function writeByHand(root: string, { manifest, files }: TinyBundle): void {
  mkdirSync(join(root, manifest.id));
  for (const [name, bytes] of files) writeFileSync(join(root, manifest.id, name), bytes);
}
