/** Pulling models from sources that are good, bad and slow. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import t, { type Test } from "tap";
import { findBundle, findBundles, readBundleFile } from "../../../src/ai/bundle.js";
import { parseModelReference } from "../../../src/ai/library/model-reference.js";
import { pseudoRandom, publish, type TinyBundle, tinyBundle } from "../tiny-bundle.js";
import { temporaryFolder, testLibrary } from "./library-fixture.js";
import { give, type Hub, loopbackHub } from "./loopback-hub.js";

const BIG = 300_000;

async function serving(t: Test, bundle: TinyBundle, name = bundle.manifest.id, tag = "latest"): Promise<Hub> {
  const hub = await loopbackHub(t);
  for (const [file, bytes] of bundle.files) hub.contents.set(`/${name}/${tag}/${file}`, bytes);
  return hub;
}

/** The bundle in the root, whose every file is what the manifest says. */
function checkInstalled(t: Test, root: string, id: string): void {
  const found = findBundle(join(root, id));
  t.equal(found?.problem, null);
  for (const { name } of found!.manifest!.files) readBundleFile(join(root, id), found!.manifest!, name);
  t.same(
    readdirSync(root).filter((name) => name.startsWith(".deleted")),
    [],
  );
}

const parts = (root: string, id: string): string[] => {
  const folder = join(root, ".pulling", id);
  return existsSync(folder) ? readdirSync(folder) : [];
};

t.test("from a folder, by name and tag", async (t) => {
  const folder = temporaryFolder(t);
  publish(folder, tinyBundle("tiny"), "tiny");
  publish(folder, tinyBundle("tiny", 0, { revision: "2" }), "tiny", "v2");
  const { root, pulled, changes } = testLibrary(t, [folder]);
  t.match(await pulled("tiny"), { model: "tiny:latest", name: "tiny", source: folder, restartRequired: false });
  checkInstalled(t, root, "tiny");
  t.match(findBundle(join(root, "tiny")), { pulled: { tag: "latest", source: folder }, manifest: { revision: "1" } });
  t.equal(changes(), 1);
  await pulled("TINY:v2");
  t.match(findBundle(join(root, "tiny")), { pulled: { tag: "v2" }, manifest: { revision: "2" } });
  t.same(findBundles(root).length, 1, "one tag of a model at a time");
  t.same(readdirSync(join(root, ".pulling")), []);
});

t.test("the first source that has it gives it; one that is not there is passed over, and told", async (t) => {
  const [empty, full] = [temporaryFolder(t), temporaryFolder(t)];
  publish(full, tinyBundle("tiny"), "tiny");
  const hub = await serving(t, tinyBundle("tiny", 0, { revision: "of the hub" }));
  const { root, pulled } = testLibrary(t, [empty, "http://127.0.0.1:1/nobody", full, hub.url], { retries: 0 });
  const facts = await pulled("tiny");
  t.equal(facts.source, full);
  t.match(facts.passedOver, [{ source: "http://127.0.0.1:1/nobody", message: /ECONNREFUSED/ }]);
  t.same(hub.requests, []);
  checkInstalled(t, root, "tiny");
});

t.test("what no source has, and what is no name", async (t) => {
  const hub = await loopbackHub(t);
  const { refused, library } = testLibrary(t, [temporaryFolder(t), hub.url]);
  t.match(await refused("nothing:here"), {
    code: "model_not_found",
    message: /No source has the model "nothing:here"/,
  });
  for (const name of ["", "../x", "a/b/c", "a/", "/b", "a:", ":a", "a:b/c", "-a", "a\0b", "x".repeat(101)]) {
    t.throws(
      () => library.pull(name),
      { code: "invalid_request", message: /is not a model name/ },
      JSON.stringify(name),
    );
  }
  t.throws(() => library.pull("some/model:latest"), { code: "model_not_found", message: /come from "some\/model"/ });
  t.throws(() => library.find("pull_1"), { code: "not_found" });
});

t.test("a hub's repository names the model that is made of it", async (t) => {
  t.same(parseModelReference("sentence-transformers/all-MiniLM-L6-v2"), { name: "all-minilm-l6-v2", tag: "latest" });
  t.same(parseModelReference("Xenova/all-MiniLM-L6-v2:int8"), { name: "all-minilm-l6-v2", tag: "int8" });
  t.same(parseModelReference("openai/whisper-tiny:fp32"), { name: "whisper-tiny", tag: "fp32" });
  t.throws(() => parseModelReference("someone/all-minilm-l6-v2"), { code: "model_not_found" });
});

t.test("a connection that breaks off is taken up again where it was", async (t) => {
  const hub = await serving(t, tinyBundle("tiny", BIG));
  const path = "/tiny/latest/padding.bin";
  let breaks = 0;
  hub.misbehave.set(path, (request, response, content) => {
    if (++breaks > 4) return false;
    const from = Number(/(\d+)/.exec(request.headers.range ?? "0")![0]);
    response.writeHead(from === 0 ? 200 : 206, {
      "content-length": content.length - from,
      ...(from === 0 ? {} : { "content-range": `bytes ${from}-${content.length - 1}/${content.length}` }),
    });
    response.write(content.subarray(from, from + 50_000), () => response.destroy());
    return true;
  });
  const { root, pulled } = testLibrary(t, [hub.url]);
  const facts = await pulled("tiny");
  t.equal(facts.bytesDone, facts.bytesTotal);
  checkInstalled(t, root, "tiny");
  const ranges = hub.requests.filter((line) => line.includes(path)).slice(1);
  t.ok(ranges.length >= 3 && ranges.every((line) => / bytes=\d+-$/.test(line)), ranges.join());
});

t.test("a server without parts is asked for the whole again", async (t) => {
  const hub = await serving(t, tinyBundle("tiny", BIG));
  let first = true;
  hub.misbehave.set("/tiny/latest/padding.bin", (_request, response, content) => {
    response.writeHead(200, { "content-length": content.length });
    if (first) response.write(content.subarray(0, 1000), () => response.destroy());
    else response.end(content);
    first = false;
    return true;
  });
  const { root, pulled } = testLibrary(t, [hub.url]);
  const facts = await pulled("tiny");
  t.equal(facts.bytesDone, facts.bytesTotal);
  checkInstalled(t, root, "tiny");
});

t.test("the next pull goes on with what an earlier one loaded, also after a kill", async (t) => {
  const hub = await serving(t, tinyBundle("tiny", BIG));
  const path = "/tiny/latest/padding.bin";
  hub.misbehave.set(path, (request, response, content) => {
    if (request.headers.range !== undefined) response.writeHead(503).end();
    else {
      response.writeHead(200, { "content-length": content.length });
      response.write(content.subarray(0, 200_000), () => setTimeout(() => response.destroy(), 50));
    }
    return true;
  });
  const { root, refused, again } = testLibrary(t, [hub.url]);
  t.match(await refused("tiny"), { code: "model_source_failed", message: /padding.bin answered 503/ });
  t.equal(findBundles(root).length, 0, "nothing is there by half");
  t.equal(parts(root, "tiny").length, 3);
  // As if the process had been killed while it put the bundle together.
  mkdirSync(join(root, ".pulling", "tiny", "bundle"));
  writeFileSync(join(root, ".pulling", "tiny", "bundle", "manifest.json"), "{");
  mkdirSync(join(root, ".deleted-1"));
  mkdirSync(join(root, "tiny"));
  writeFileSync(join(root, "tiny", "weights.bin"), "half");
  hub.misbehave.clear();
  hub.requests.length = 0;
  const later = again([hub.url]);
  const facts = await later.follow(later.pull("tiny").id, () => undefined).ended;
  t.equal(facts.status, "completed");
  t.equal(facts.bytesDone, facts.bytesTotal);
  checkInstalled(t, root, "tiny");
  t.match(hub.requests, ["GET /tiny/latest/manifest.json", / bytes=[1-9]\d+-$/], "only what was missing");
  t.equal(existsSync(join(root, ".deleted-1")), false);
});

const wrong: readonly (readonly [string, (hub: Hub, content: Buffer) => void, RegExp])[] = [
  [
    "a changed byte",
    (hub, content) => {
      const other = Buffer.from(content);
      other[777]! ^= 1;
      hub.contents.set("/tiny/latest/padding.bin", other);
    },
    /padding.bin is not what was offered: its SHA-256 is/,
  ],
  [
    "a file that is too long",
    (hub, content) => hub.contents.set("/tiny/latest/padding.bin", Buffer.concat([content, content])),
    /has 600000 bytes at the source, not 300000/,
  ],
  [
    "a file that says to be as long as it should, and goes on",
    (hub, content) =>
      hub.misbehave.set("/tiny/latest/padding.bin", (_request, response) => {
        response.writeHead(200);
        response.write(content);
        response.end(content);
        return true;
      }),
    /longer than the 300000 bytes/,
  ],
  [
    "a file that is too short",
    (hub, content) => hub.contents.set("/tiny/latest/padding.bin", content.subarray(0, 1000)),
    /has 1000 bytes at the source, not 300000/,
  ],
  ["half a manifest", (hub) => hub.contents.set("/tiny/latest/manifest.json", Buffer.from('{"id":')), /not valid JSON/],
  [
    "an endless manifest",
    (hub) => hub.contents.set("/tiny/latest/manifest.json", Buffer.alloc(2_000_000, " ")),
    /is longer than 1048576 bytes/,
  ],
  [
    "a page in place of a manifest",
    (hub) => hub.contents.set("/tiny/latest/manifest.json", Buffer.from("<html>")),
    /not valid JSON/,
  ],
  [
    "the manifest of another model",
    (hub) => hub.contents.set("/tiny/latest/manifest.json", tinyBundle("other").files.get("manifest.json")!),
    /is that of other/,
  ],
  [
    "a model that this server cannot run",
    (hub) => {
      const bundle = tinyBundle("tiny", 0, { required_capabilities: ["telepathy"] });
      hub.contents.set("/tiny/latest/manifest.json", bundle.files.get("manifest.json")!);
    },
    /lacks: telepathy/,
  ],
  [
    "a model that is too large",
    (hub) => {
      const { files } = tinyBundle("tiny").manifest;
      const bundle = tinyBundle("tiny", 0, { files: files.map((file) => ({ ...file, bytes: 6_000_000 })) });
      hub.contents.set("/tiny/latest/manifest.json", bundle.files.get("manifest.json")!);
    },
    /has 12000000 bytes; ai.pull.bytes_max allows 10000000/,
  ],
];

for (const [what, change, message] of wrong) {
  t.test(`${what} is refused`, async (t) => {
    const bundle = tinyBundle("tiny", BIG);
    const hub = await serving(t, bundle);
    change(hub, bundle.files.get("padding.bin")!);
    const { root, refused, changes } = testLibrary(t, [hub.url]);
    const error = await refused("tiny");
    t.match(error, { message });
    t.match(error.code, /^model_(rejected|source_failed)$/);
    t.same(findBundles(root), []);
    t.same(parts(root, "tiny"), [], "and nothing of it stays");
    t.equal(changes(), 0);
  });
}

for (const name of ["../x", "a/b", "..", "/etc/passwd", "a\\b", "manifest.json", "PULLED.json", "TOKENIZER.json", ""]) {
  t.test(`a file by the name ${JSON.stringify(name)} is refused`, async (t) => {
    const { manifest } = tinyBundle("tiny");
    const bundle = tinyBundle("tiny", 0, { files: [...manifest.files, { name, bytes: 1, sha256: "0".repeat(64) }] });
    const hub = await serving(t, bundle);
    hub.contents.set("/x", Buffer.from("x"));
    const { root, refused } = testLibrary(t, [hub.url]);
    t.match(await refused("tiny"), { code: "model_rejected", message: /manifest.json: / });
    t.same(hub.requests, ["GET /tiny/latest/manifest.json"]);
    t.same(readdirSync(join(root, "..")).sort(), ["root"]);
  });
}

t.test("a part that is of something else is loaded anew", async (t) => {
  const hub = await serving(t, tinyBundle("tiny", BIG));
  hub.misbehave.set("/tiny/latest/padding.bin", (_request, response) => {
    response.writeHead(404).end();
    return true;
  });
  const { root, refused, pulled } = testLibrary(t, [hub.url]);
  t.match(await refused("tiny"), { code: "model_source_failed", message: /padding.bin answered 404/ });
  hub.misbehave.clear();
  for (const part of parts(root, "tiny")) writeFileSync(join(root, ".pulling", "tiny", part), pseudoRandom(100));
  const facts = await pulled("tiny");
  t.equal(facts.bytesDone, facts.bytesTotal);
  checkInstalled(t, root, "tiny");
});

t.test("a source that says nothing is given up, and tried again", async (t) => {
  const hub = await serving(t, tinyBundle("tiny", BIG));
  const silent: ServerResponse[] = [];
  hub.misbehave.set("/tiny/latest/padding.bin", (_request, response, content) => {
    if (silent.length > 0) return false;
    silent.push(response);
    response.writeHead(200, { "content-length": content.length });
    response.write(content.subarray(0, 10_000));
    return true;
  });
  const { root, pulled } = testLibrary(t, [hub.url]);
  await pulled("tiny");
  checkInstalled(t, root, "tiny");
  t.match(hub.requests.at(-1), / bytes=10000-$/);
});

t.test("a pull that takes too long ends, and goes on with the next", async (t) => {
  const hub = await serving(t, tinyBundle("tiny", BIG));
  hub.misbehave.set("/tiny/latest/padding.bin", (_request, response, content) => {
    response.writeHead(200, { "content-length": content.length });
    let at = 0;
    const drip = setInterval(() => {
      response.write(content.subarray(at, at + 1000));
      at += 1000;
    }, 20);
    response.on("close", () => clearInterval(drip));
    return true;
  });
  const { root, refused, again } = testLibrary(t, [hub.url], { timeoutMs: 1000 });
  t.match(await refused("tiny"), { code: "model_source_failed", message: /took longer than 1 s/ });
  t.equal(parts(root, "tiny").length, 3);
  hub.misbehave.clear();
  const later = again([hub.url]);
  t.match(await later.follow(later.pull("tiny").id, () => undefined).ended, { status: "completed" });
  t.match(hub.requests.at(-1), / bytes=[1-9]\d+-$/);
});

t.test("a source that is overloaded is left alone for as long as it asks", async (t) => {
  const hub = await serving(t, tinyBundle("tiny"));
  let asked = 0;
  hub.misbehave.set("/tiny/latest/manifest.json", (_request, response) => {
    if (++asked > 2) return false;
    response.writeHead(asked === 1 ? 503 : 429, { "retry-after": "0" }).end();
    return true;
  });
  const { pulled } = testLibrary(t, [hub.url]);
  await pulled("tiny");
  t.equal(asked, 3);
});

t.test("redirects", async (t) => {
  const hub = await serving(t, tinyBundle("tiny"));
  const elsewhere = await serving(t, tinyBundle("tiny"));
  const to = (location: string) =>
    hub.misbehave.set("/tiny/latest/weights.bin", (_request, response) => {
      response.writeHead(302, { location }).end();
      return true;
    });
  hub.contents.set("/moved", hub.contents.get("/tiny/latest/weights.bin")!);
  const { library, refused, pulled, again } = testLibrary(t, [hub.url]);
  to("/moved");
  await pulled("tiny");
  await library.delete("tiny");
  const refusals: readonly (readonly [string, RegExp])[] = [
    [`${elsewhere.url}/tiny/latest/weights.bin`, /redirect to 127.0.0.1 is refused/],
    ["http://localhost:1/", /redirect to localhost is refused/],
    ["http://[::1]:1/", /redirect to ::1 is refused/],
    ["http://169.254.169.254/latest/meta-data", /redirect to 169.254.169.254 is refused/],
    ["http://[::ffff:10.0.0.1]/", /is refused/],
    ["file:///etc/passwd", /not HTTP/],
    ["/tiny/latest/weights.bin", /redirects more than 5 times/],
  ];
  for (const [location, message] of refusals) {
    to(location);
    t.match(await refused("tiny"), { code: "model_source_failed", message }, location);
  }
  t.same(elsewhere.requests, [], "nobody was asked");
  to(`${elsewhere.url}/tiny/latest/weights.bin`);
  const both = again([hub.url, elsewhere.url]);
  const facts = await both.follow(both.pull("tiny").id, () => undefined).ended;
  t.equal(facts.status, "completed", "one configured source may redirect to another");
});

t.test("who asks for a model that is being pulled joins that pull", async (t) => {
  const hub = await serving(t, tinyBundle("tiny", BIG));
  const gate: (() => void)[] = [];
  hub.misbehave.set("/tiny/latest/padding.bin", (request, response, content) => {
    gate.push(() => give(request, response, content));
    return true;
  });
  const { library, root } = testLibrary(t, [hub.url]);
  const pulls = ["tiny", "tiny:latest", "Tiny"].map((name) => library.pull(name));
  t.same(new Set(pulls.map(({ id }) => id)).size, 1);
  t.throws(() => library.pull("tiny:v2"), { code: "model_in_use", message: /Another form of it, "tiny:latest"/ });
  await t.rejects(library.delete("tiny"), { code: "model_not_found" }, "it is not there yet");
  const reports: number[] = [];
  const ends = pulls.map(({ id }) => library.follow(id, ({ bytesDone }) => reports.push(bytesDone)).ended);
  while (gate.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  t.match(library.pulls(), [{ status: "running", phase: "downloading", source: hub.url, bytesTotal: Number }]);
  gate[0]!();
  for (const facts of await Promise.all(ends)) t.equal(facts.status, "completed");
  t.ok(reports.length > 0);
  t.equal(hub.requests.filter((line) => line.includes("padding.bin")).length, 1, "and it was loaded once");
  checkInstalled(t, root, "tiny");
});

t.test("a pull that is cancelled leaves nothing", async (t) => {
  const hub = await serving(t, tinyBundle("tiny", BIG));
  let begun!: () => void;
  const sending = new Promise<void>((resolve) => {
    begun = resolve;
  });
  hub.misbehave.set("/tiny/latest/padding.bin", (_request, response, content) => {
    response.writeHead(200, { "content-length": content.length });
    response.write(content.subarray(0, 100_000), begun);
    return true;
  });
  const { library, root, pulled } = testLibrary(t, [hub.url]);
  const { id } = library.pull("tiny");
  await sending;
  t.match(await library.cancel(id), { status: "cancelled", error: { code: "pull_cancelled" } });
  t.same(parts(root, "tiny"), []);
  t.match(await library.cancel(id), { status: "cancelled" }, "once more is harmless");
  hub.misbehave.clear();
  await pulled("tiny");
});

t.test(
  "some pulls run, some wait, more are refused; a closing library ends all and keeps what they have",
  async (t) => {
    const hub = await loopbackHub(t);
    for (let i = 0; i < 19; i++) {
      for (const [file, bytes] of tinyBundle(`tiny${i}`).files) hub.contents.set(`/tiny${i}/latest/${file}`, bytes);
      hub.misbehave.set(`/tiny${i}/latest/weights.bin`, () => true);
    }
    const { library, root } = testLibrary(t, [hub.url]);
    const pulls = Array.from({ length: 18 }, (_, i) => library.pull(`tiny${i}`));
    t.throws(() => library.pull("tiny18"), { code: "overloaded" });
    t.equal(library.pulls().filter(({ status }) => status === "running").length, 2);
    const cancelled = await library.cancel(pulls[17]!.id);
    t.equal(cancelled.status, "cancelled");
    while (!hub.requests.includes("GET /tiny1/latest/weights.bin"))
      await new Promise((resolve) => setTimeout(resolve, 5));
    await library.close();
    t.equal(library.pulls().filter(({ error }) => error?.code === "shutting_down").length, 17);
    t.ok(parts(root, "tiny0").length > 0);
  },
);

t.test("a model that is pulled again is repaired, without loading what is right", async (t) => {
  const hub = await serving(t, tinyBundle("tiny", BIG));
  const { root, pulled } = testLibrary(t, [hub.url]);
  await pulled("tiny");
  const before = findBundle(join(root, "tiny"))!.digest;
  writeFileSync(join(root, "tiny", "weights.bin"), "wrong");
  hub.requests.length = 0;
  await pulled("tiny");
  checkInstalled(t, root, "tiny");
  t.equal(findBundle(join(root, "tiny"))!.digest, before);
  t.notOk(hub.requests.some((line) => line.includes("padding.bin")));
  t.ok(hub.requests.some((line) => line.includes("weights.bin")));
});

t.test("what a pull would leave too little of", async (t) => {
  const hub = await serving(t, tinyBundle("tiny"));
  const { refused } = testLibrary(t, [hub.url], { freeBytesMin: 2 ** 60 });
  t.match(await refused("tiny"), { code: "disk_full", message: /ai.pull.free_bytes_min/ });
});

t.test("while a model is being deleted it is neither pulled nor deleted", async (t) => {
  const folder = temporaryFolder(t);
  publish(folder, tinyBundle("tiny"), "tiny");
  let release!: (isFree: boolean) => void;
  const letGo = () =>
    new Promise<boolean>((resolve) => {
      release = resolve;
    });
  const { library, pulled, refused } = testLibrary(t, [folder], {}, letGo);
  await pulled("tiny");
  const deleted = library.delete("tiny");
  await t.rejects(library.delete("tiny"), { code: "model_in_use", message: /being deleted/ });
  t.match(await refused("tiny"), { code: "model_in_use", message: /being deleted/ });
  release(true);
  t.equal(await deleted, "tiny");
  await pulled("tiny");
});

t.test("deleting", async (t) => {
  const folder = temporaryFolder(t);
  publish(folder, tinyBundle("tiny", 0, { alias: "small" }), "tiny");
  publish(folder, tinyBundle("default-model"), "default-model");
  let isFree = false;
  const { root, library, pulled, asked, changes } = testLibrary(t, [folder], {}, async () => isFree);
  publish(join(root, ".."), tinyBundle("own"), "bundled", "own");
  await pulled("tiny");
  await pulled("default-model");
  await t.rejects(library.delete("other"), { code: "model_not_found", message: /installed: default-model, tiny/ });
  await t.rejects(library.delete("tiny:v2"), { code: "model_not_found" });
  await t.rejects(library.delete("own"), { code: "forbidden", message: /"own" comes with the program/ });
  t.throws(() => library.pull("own"), { code: "conflict", message: /"own" comes with the program/ });
  await t.rejects(library.delete("default-model"), { code: "model_in_use", message: /ai.embedding_model/ });
  await t.rejects(library.delete("../root/tiny"), { code: "invalid_request" });
  const told = changes();
  await t.rejects(library.delete("tiny"), { code: "model_in_use", message: /in use by long requests/ });
  checkInstalled(t, root, "tiny");
  t.equal(changes(), told + 1, "actors hear that it stays");
  isFree = true;
  t.equal(await library.delete("small:latest"), "tiny");
  t.same(asked, [join(root, "tiny"), join(root, "tiny")]);
  t.equal(existsSync(join(root, "tiny")), false);
  await t.rejects(library.delete("tiny"), { code: "model_not_found" });
  t.equal(readFileSync(join(root, "default-model", "manifest.json")).length > 0, true);
});
