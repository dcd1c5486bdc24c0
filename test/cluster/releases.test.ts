/** Which releases may serve side by side, and when the cluster's data may get a newer format. */
import t from "tap";
import { codesOf, OWN_HELLO, translate } from "../../src/cluster/peer-hello.js";
import { commonFormat, mixOf, type NodeRelease, OWN_RELEASE, refusalOf } from "../../src/cluster/releases.js";
import { finalizeUpgrade, removeNode } from "../../src/cluster-commands.js";
import { ENDPOINT_NAMES } from "../../src/protocol/endpoints.js";
import { CANCEL_CODE, RequestWriter, readRequests, UNKNOWN_CODE } from "../../src/protocol/frames.js";
import { FORMAT_OLDEST, FORMAT_VERSION } from "../../src/storage/format.js";
import { NO_ETCD } from "./etcd.js";
import { newInstallation } from "./etcd-installation.js";

const { links } = OWN_RELEASE;
const releaseOf = (release: string, newest: number, more: Partial<NodeRelease> = {}): NodeRelease => ({
  ...{ release, formats: { oldest: FORMAT_OLDEST, newest }, links },
  ...more,
});

t.test("a program joins where it serves the data and speaks with all others", async (t) => {
  const alone = new Map<string, NodeRelease>();
  t.equal(refusalOf("a", FORMAT_VERSION, alone), null);
  t.match(refusalOf("a", FORMAT_VERSION + 1, alone), /use the release that the other nodes have/);
  t.match(refusalOf("a", FORMAT_OLDEST - 1, alone), /upgrade all nodes to a release in between first/);
  const far = releaseOf("9.0.0", 9, { links: { oldest: links.newest + 1, newest: links.newest + 2 } });
  t.match(refusalOf("a", FORMAT_VERSION, new Map([["b", far]])), /^b runs release 9.0.0, which cannot talk to/);
  t.equal(refusalOf("b", FORMAT_VERSION, new Map([["b", far]])), null, "what the node ran before does not count");
  const near = releaseOf("9.0.0", 9, { links: { oldest: links.newest, newest: links.newest + 1 } });
  t.equal(refusalOf("a", FORMAT_VERSION, new Map([["b", near]])), null);
});

t.test("the oldest release says which format all serve", async (t) => {
  const nodes = new Map([
    ["a", releaseOf("1.0.0", 3)],
    ["b", releaseOf("0.9.0", 2)],
    ["c", releaseOf("1.0.0", 3)],
  ]);
  t.same(commonFormat(nodes), { format: 2, limitedBy: ["b (0.9.0)"] });
  t.equal(mixOf(nodes), "nodes run different releases: a 1.0.0, b 0.9.0, c 1.0.0");
  nodes.delete("b");
  t.equal(commonFormat(nodes).format, 3);
  t.equal(mixOf(nodes), null);
});

t.test("codes of another release's endpoints become this one's", async (t) => {
  t.equal(codesOf(OWN_HELLO), null, "the same release needs no change");
  t.equal(codesOf({ ...OWN_HELLO, link: links.newest + 1 }), undefined);
  const [first, second, ...rest] = ENDPOINT_NAMES as [string, string, ...string[]];
  const codes = codesOf({ ...OWN_HELLO, endpoints: [second, "new.one", first, ...rest] })!;
  t.same([...codes.subarray(0, 4)], [1, UNKNOWN_CODE, 0, 2]);
  const writer = new RequestWriter();
  for (const code of [0, 1, 2, 3]) writer.request(7 + code, code, 0, 3, 9, 5000, "r-1", "head", Buffer.from("body"));
  writer.cancel(7);
  const frames = writer.take();
  translate(frames, codes);
  const found: number[] = [];
  readRequests(frames, ({ code }) => found.push(code));
  t.same(found, [1, UNKNOWN_CODE, 0, 2, CANCEL_CODE]);
});

t.test(
  "the format is raised when all nodes serve a newer one, and not beside one that joins",
  { skip: NO_ETCD },
  async (t) => {
    const { map, service, config } = await newInstallation(t);
    await t.rejects(finalizeUpgrade(config), /there is no cluster etcd:/);
    await map.init({ installation: "i", format: 2, partitions: 1, sealed: "" }, "a", new Map());
    await t.rejects(finalizeUpgrade(config), /it is not known which release these nodes have: there are none yet/);
    const found = (await map.meta())!;
    t.ok(await map.announce("a", releaseOf("1.0.0", 3), found));
    await service.renew("b", 0, { incarnation: "x", counter: 1, isFenced: false });
    await t.rejects(finalizeUpgrade(config), /these nodes have: b; start them, or remove them/);
    t.ok(await map.announce("b", releaseOf("0.9.0", 2), found));
    await t.rejects(
      finalizeUpgrade(config),
      /b \(0.9.0\) cannot read a newer format than 2: upgrade these nodes first/,
    );
    t.ok(await map.announce("b", releaseOf("1.0.0", 3), found));

    const seen = await map.releases();
    t.same([...seen.nodes.keys()], ["a", "b"]);
    t.ok(await map.announce("c", releaseOf("0.9.0", 2), found), "an older release joins");
    t.equal(await map.finalize(found, 3, seen.revision), false, "it was not seen");
    t.equal((await map.meta())!.meta.format, 2);
    await t.rejects(finalizeUpgrade(config), /c \(0.9.0\) cannot read/);
    t.match(await removeNode(config, "c", 10), /c is removed/);
    t.match(await finalizeUpgrade(config), /the data has format 3 now/);
    t.equal((await map.meta())!.meta.format, 3);
    t.equal(await map.announce("c", releaseOf("0.9.0", 2), found), false, "what it has read of the cluster is old");
    t.match(await finalizeUpgrade(config), /there is nothing to do: the data has format 3/);
  },
);
