/** /v1/multimodal over the socket: without any model that sees, and with small real ones. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import t, { type Test } from "tap";
import { anthropicPieces, FakeProvider, type Format, ollamaPieces, openaiPieces } from "../ai/fake-provider.js";
import { DIMENSIONS, makeCaptioner, makeDualEncoder } from "../ai/vision/tiny-vision.js";
import { wav } from "../ingest/wav-writer.js";
import { TestServer } from "./server.js";

const folder = mkdtempSync(join(tmpdir(), "tessera-multimodal-"));
t.teardown(() => rmSync(folder, { recursive: true }));

/** A plain colour with a dark bar at its left, so that it has edges; a PNG in base64. */
async function picture(colour: string, words = ""): Promise<string> {
  const text = `<text x="60" y="90" font-family="DejaVu Sans, sans-serif" font-size="42" fill="#000">${words}</text>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="480" height="160"><rect width="100%" height="100%" fill="${colour}"/><rect width="20" height="100%" fill="#111"/>${text}</svg>`;
  return (await sharp(Buffer.from(svg)).png().toBuffer()).toString("base64");
}

async function started(t: Test, environment: Readonly<Record<string, string>>): Promise<TestServer> {
  const server = await TestServer.start(environment);
  t.teardown(() => server.stop());
  return server;
}

/** An image host on loopback; answers its address. */
async function imageHost(t: Test, bytes: Buffer): Promise<string> {
  const host = createServer((request, response) => {
    if (request.url === "/there") response.writeHead(302, { location: "http://localhost:1/secret" }).end();
    else if (request.url === "/words") response.writeHead(200, { "content-type": "text/plain" }).end("words");
    else response.writeHead(200, { "content-type": "image/png" }).end(bytes);
  });
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    host.closeAllConnections();
    host.close();
  });
  return `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
}

const post = (server: TestServer, what: string, body: object) => server.call("POST", `/v1/multimodal/${what}`, body);

t.test("without models that see", async (t) => {
  const red = await picture("#d02020");
  const host = await imageHost(t, Buffer.from(red, "base64"));
  const server = await started(t, {
    TESSERA_MULTIMODAL_IMAGE_URL_SCHEMES: "http,https",
    TESSERA_MULTIMODAL_IMAGE_URL_PRIVATE_HOSTS: "127.0.0.1",
    TESSERA_MULTIMODAL_FFMPEG: "/nowhere/ffmpeg",
    TESSERA_QUERY_AI_SERVICE_TENANT_PRIVATE_ADDRESSES: "true",
  });

  await t.test("images that are none", async (t) => {
    const half = Buffer.from(red, "base64").subarray(0, 700).toString("base64");
    const cases: [object, RegExp][] = [
      [{ image: `data:image/png;base64,${red}` }, /^image: send base64 alone/],
      [{ image: "not base64!" }, /^image: is not valid base64/],
      [{ image: half.slice(0, -1) }, /^image: is not valid base64: .*cut off/],
      [{ image: half }, /^image: .*cut off/],
      [{ image: Buffer.from("no image at all").toString("base64") }, /^image: .*no image/],
      [{ image: Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>").toString("base64") }, /^image: .*no image/],
      [{}, /send exactly one of/],
      [{ image: red, image_url: "https://example.com/a.png" }, /send exactly one of/],
      [{ image_url: "ftp://example.com/a.png" }, /^image_url: ftp: is not allowed/],
      [{ image_url: "http://localhost/a.png" }, /^image_url: the address is private/],
      [{ image_url: "http://169.254.169.254/latest" }, /^image_url: the address is private/],
      [{ image_url: `${host}/there` }, /^image_url: the address is private/],
      [{ image_url: `${host}/words` }, /^image_url: is text\/plain; expected image/],
      [{ image_url: "nonsense" }, /^image_url: is no address/],
    ];
    for (const [image, message] of cases) {
      for (const [route, body] of [
        ["describe", { prompt: "what is it?", ...image }],
        ["images", { ...image }],
      ] as const) {
        const { status, body: answer } = await post(server, route, body);
        t.equal(status, 400, `${route} ${JSON.stringify(image).slice(0, 60)}`);
        t.match(answer.error, { code: "invalid_request", message });
      }
    }
    t.match((await post(server, "embed", { input: { image: "%%%" } })).body.error.message, /^input.image: /);
    t.match((await post(server, "search", { query: { image: half } })).body.error.message, /^query.image: /);
    t.same((await server.rows("SELECT count(*) FROM information_schema.tables WHERE table_name = 'images'"))[0], [0]);
  });

  await t.test("nobody describes them, and it is said how to change that", async (t) => {
    const { status, body } = await post(server, "describe", { prompt: "what is it?", image: red });
    t.equal(status, 503);
    t.match(body.error, {
      code: "model_unavailable",
      details: { pull: "vit-gpt2-image-captioning", hint: /models\/pull/ },
    });
    const other = await post(server, "describe", { prompt: "what is it?", image: red, provider: "ollama" });
    t.match(other.body.error, { code: "invalid_request", message: /No provider is configured/ });
    t.equal((await post(server, "describe", { prompt: "?", image: red, model: "not-there" })).status, 404);
    t.equal((await post(server, "describe", { prompt: "?", image: red, model: "tessera-chat" })).status, 404);
  });

  await t.test("they are found by words and by looks", async (t) => {
    const put = (id: string, image: string, more: object = {}) =>
      post(server, "images", { id, image, ocr: false, ...more });
    const first = await put("red", red, { caption: "a crimson banner", metadata: { place: "harbour", year: 2020 } });
    t.equal(first.status, 201, JSON.stringify(first.body));
    t.match(first.body.data, {
      id: "red",
      collection: "images",
      width: 480,
      height: 160,
      media_type: "image/png",
      models: ["tessera-visual-1"],
    });
    t.match(first.body.data.text, /crimson banner\s+harbour/);
    t.equal((await put("green", await picture("#209030"), { caption: "a meadow" })).status, 201);
    t.equal((await put("blue", await picture("#2030c0"))).status, 201);
    t.equal((await put("red", red)).status, 409, "an id twice");
    const read = await post(server, "images", { id: "sign", image: await picture("#ffffff", "LIGHTHOUSE") });
    t.equal(read.status, 201, JSON.stringify(read.body));
    t.match(read.body.data.text, /LIGHTHOUSE/, "the words in it");
    t.equal(
      (await post(server, "images", { id: "fetched", image_url: `${host}/red.png`, ocr: false, collection: "other" }))
        .status,
      201,
    );

    const byWords = await post(server, "search", { query: { text: "lighthouse" }, limit: 3 });
    t.equal(byWords.status, 200, JSON.stringify(byWords.body));
    t.match(byWords.body.data, {
      results: [{ id: "sign", collection: "images", modality: "image", method: "text" }],
      methods: ["text"],
    });
    t.notOk("visual" in byWords.body.data.results[0].document, "without vectors");
    t.ok(byWords.body.data.results[0].document.thumbnail.length > 50);
    const byCaption = await post(server, "search", {
      query: { text: "crimson" },
      modalities: ["image"],
      collections: ["images"],
    });
    t.equal(byCaption.body.data.results[0].id, "red");

    const byLooks = await post(server, "search", {
      query: { image: await picture("#c01818") },
      collections: ["images"],
      limit: 4,
    });
    t.match(byLooks.body.data, { methods: ["visual_feature"], model: "tessera-visual-1", total: 4 });
    t.equal(byLooks.body.data.results[0].id, "red");
    t.ok(byLooks.body.data.results[0].score > 0.9);
    const everywhere = await post(server, "search", { query: { image_url: `${host}/red.png` }, limit: 2 });
    t.same(new Set(everywhere.body.data.results.map(({ id }: { id: string }) => id)), new Set(["red", "fetched"]));
    t.match(everywhere.body.data.results[0].score, 1);
    t.equal(
      (await post(server, "search", { query: { image: red }, modalities: ["audio", "text"] })).body.data.total,
      0,
    );
    t.equal((await post(server, "search", { query: { text: "meadow" }, modalities: ["audio"] })).body.data.total, 0);

    const row = await server.rows("SELECT kind, width, exif FROM images WHERE id = 'red'");
    t.same(row, [["image", 480, {}]], "rows like any others");
    const plain = await server.call("POST", "/v1/collections/images/search", { query: "crimson" });
    t.equal(plain.body.data.documents[0].id, "red");
    t.equal((await post(server, "search", { query: { text: "x" }, collections: ["nowhere"] })).status, 404);
    await server.expect(201, "POST", "/v1/collections", { name: "notes", schema: { title: "string" } });
    t.match(
      (await post(server, "search", { query: { image: red }, collections: ["notes"] })).body.error.message,
      /no vectors of images/,
    );
    t.match((await post(server, "images", { image: red, collection: "notes" })).body.error.message, /holds no images/);
    const token = await server.tenant("elsewhere");
    const other = await server.call("POST", "/v1/multimodal/search", { query: { text: "crimson" } }, { token });
    t.equal(other.body.data.total, 0, "not another tenant's");
  });

  await t.test("vectors", async (t) => {
    const embed = (input: object, model?: string) => post(server, "embed", { input, ...(model && { model }) });
    const image = (await embed({ image: red })).body.data;
    t.match(image, { modality: "image", model: "tessera-visual-1", dimensions: 192, method: "visual_feature" });
    t.ok(Math.abs(image.embedding.reduce((sum: number, x: number) => sum + x * x, 0) - 1) < 1e-5);
    t.same((await embed({ image_url: `${host}/a` })).body.data.embedding, image.embedding);
    t.match((await embed({ text: "a dog" })).body.data, {
      modality: "text",
      dimensions: 384,
      method: "text_embedding",
    });
    const tone = wav((at) => 0.5 * Math.sin(3000 * at), 0.5).toString("base64");
    t.match((await embed({ audio: tone })).body.data, { modality: "audio", model: "tessera-audio-1", dimensions: 64 });
    t.match((await embed({ audio: tone.slice(0, 4000) })).body.error, {
      code: "invalid_request",
      message: /^input.audio: .*cut off/,
    });
    for (const input of [{ video: red }, { audio: red }]) {
      const { status, body } = await embed(input);
      t.equal(status, 503);
      t.match(body.error, { code: "program_not_installed", message: /ffmpeg/ });
    }
    t.equal((await embed({ text: "a" }, "tessera-visual-1")).status, 400);
    t.equal((await embed({ image: red }, "tessera-embed-384")).status, 404);
    t.equal((await embed({})).status, 400);
    t.equal((await embed({ text: "a", image: red })).status, 400);
  });

  await t.test("providers are shown the image", async (t) => {
    const formats: Readonly<Record<string, { pieces: Format; path: string }>> = {
      openai: { pieces: openaiPieces, path: "/v1" },
      anthropic: { pieces: anthropicPieces, path: "" },
      ollama: { pieces: ollamaPieces, path: "" },
    };
    const fake = await FakeProvider.start(({ path }) => {
      const pieces = path.includes("completions")
        ? openaiPieces
        : path.includes("messages")
          ? anthropicPieces
          : ollamaPieces;
      return { pieces: pieces(["a red", " banner"]) };
    });
    t.teardown(() => fake.close());
    const large = await sharp({ create: { width: 3000, height: 1000, channels: 3, background: "#d01010" } })
      .tiff()
      .toBuffer();
    for (const [provider, { path }] of Object.entries(formats)) {
      const own = { provider, base_url: fake.url + path, model: "sees", api_key: "k" };
      await server.expect(200, "PUT", "/v1/ai/provider", own);
      const { status, body } = await post(server, "describe", {
        prompt: "what is it?",
        image: large.toString("base64"),
        provider,
      });
      t.equal(status, 200, JSON.stringify(body));
      t.match(body.data, {
        text: "a red banner",
        model: "sees",
        provider,
        usage: { input_tokens: 11, output_tokens: 7 },
      });
      const sent = JSON.stringify(fake.asked.at(-1)!.body);
      t.match(sent, /what is it\?/);
      const base64 = /iVBORw0KGgo[A-Za-z0-9+/=]+/.exec(sent)?.[0] ?? "";
      t.match(
        await sharp(Buffer.from(base64, "base64")).metadata(),
        { format: "png", width: 2048 },
        "as PNG, not too large",
      );
      const other = provider === "openai" ? "ollama" : "openai";
      const refused = await post(server, "describe", { prompt: "?", image: large.toString("base64"), provider: other });
      t.match(refused.body.error, {
        code: "invalid_request",
        message: new RegExp(`configured provider is "${provider}"`),
      });
      const named = await post(server, "describe", { prompt: "?", image: large.toString("base64"), model: "another" });
      t.match(named.body.data, { model: "another", provider });
    }
  });

  await t.test("what was stored is there after a kill", async (t) => {
    await server.kill();
    await server.boot();
    const found = await post(server, "search", { query: { image: red }, collections: ["images"], limit: 1 });
    t.equal(found.body.data.results[0].id, "red");
  });
});

t.test("with models that see", async (t) => {
  const models = join(folder, "models");
  makeDualEncoder(models);
  makeCaptioner(models);
  const ffmpeg = fakeFfmpeg();
  const server = await started(t, { TESSERA_AI_MODEL_ROOT: models, TESSERA_MULTIMODAL_FFMPEG: ffmpeg });
  const [red, blue] = [await picture("#e01010"), await picture("#1010e0")];

  await t.test("an image in words", async (t) => {
    const { body } = await post(server, "describe", { prompt: "what is it?", image: red });
    t.match(body.data, { text: "red picture", model: "tiny-captions", provider: "native", finish_reason: "stop" });
    t.match(body.data.usage, { input_tokens: 1, output_tokens: 3, total_tokens: 4 });
    const named = await post(server, "describe", { prompt: "?", image: blue, model: "tiny-captions" });
    t.equal(named.body.data.text, "blue picture");
    t.equal((await post(server, "describe", { prompt: "?", image: blue, model: "tiny-clip" })).status, 404);
  });

  await t.test("words find images that nobody described", async (t) => {
    for (const [id, image] of [
      ["one", red],
      ["two", blue],
      ["three", await picture("#10e010")],
    ] as const) {
      const { status, body } = await post(server, "images", { id, image, ocr: false });
      t.equal(status, 201, JSON.stringify(body));
      t.same(body.data.models, ["tessera-visual-1", "tiny-clip"]);
    }
    for (const [text, id] of [
      ["red", "one"],
      ["blue", "two"],
      ["green", "three"],
    ] as const) {
      const { data } = (await post(server, "search", { query: { text }, modalities: ["image"], limit: 1 })).body;
      t.match(data, { results: [{ id, modality: "image" }], model: "tiny-clip" });
      t.ok(data.methods.includes("dual_encoder"));
    }
    const { data } = (await post(server, "search", { query: { image: blue } })).body;
    t.match(data, { results: [{ id: "two", method: "dual_encoder" }], methods: ["dual_encoder"], model: "tiny-clip" });
    const text = (await post(server, "embed", { input: { text: "red" } })).body.data;
    t.match(text, { model: "tiny-clip", dimensions: DIMENSIONS, method: "dual_encoder" });
    const image = (await post(server, "embed", { input: { image: red }, model: "tiny-clip" })).body.data;
    const likeness = (one: number[], other: number[]) => one.reduce((sum, x, i) => sum + x * other[i]!, 0);
    t.ok(likeness(text.embedding, image.embedding) > 0.8);
    t.match((await post(server, "embed", { input: { text: "red" }, model: "tessera-embed-384" })).body.data, {
      dimensions: 384,
    });
  });

  await t.test("videos and other sounds, by the program that reads them", async (t) => {
    const video = Buffer.from("a video of blue").toString("base64");
    const felt = (await post(server, "embed", { input: { video }, model: "tessera-visual-1" })).body.data;
    t.match(felt, { modality: "video", dimensions: 192, method: "visual_feature" });
    const seen = (await post(server, "embed", { input: { video } })).body.data;
    const word = (await post(server, "embed", { input: { text: "blue" } })).body.data;
    t.match(seen, { modality: "video", model: "tiny-clip" });
    t.ok(seen.embedding.reduce((sum: number, x: number, i: number) => sum + x * word.embedding[i], 0) > 0.8);
    const sound = (await post(server, "embed", { input: { audio: video } })).body.data;
    t.match(sound, { modality: "audio", dimensions: 64, method: "audio_feature" });
    const broken = await post(server, "embed", { input: { video: Buffer.from("nothing").toString("base64") } });
    t.match(broken.body.error, {
      code: "invalid_request",
      message: /^input.video: ffmpeg cannot read it \(input: Invalid data/,
    });
  });
});

/** Stands for ffmpeg, which is not everywhere: reads what it is given as a file, and writes frames or a WAV file. */
function fakeFfmpeg(): string {
  const path = join(folder, "ffmpeg.mjs");
  const sound = wav((at) => 0.5 * Math.sin(3000 * at), 0.5).toString("base64");
  writeFileSync(
    path,
    `#!${process.execPath}
import { readFileSync } from "node:fs";
const args = process.argv.slice(2);
const input = args[args.indexOf("-i") + 1];
const content = readFileSync(input, "utf8");
if (args.at(-1) !== "pipe:1" || args[args.indexOf("-protocol_whitelist") + 1] !== "file,pipe") process.exit(9);
if (!content.startsWith("a video")) {
  console.error(input + ": Invalid data found when processing input");
  process.exit(1);
}
if (args.includes("-vn")) process.stdout.write(Buffer.from("${sound}", "base64"));
else {
  const side = Number(/scale=(\\d+)/.exec(args[args.indexOf("-vf") + 1])[1]);
  const frame = Buffer.alloc(side * side * 3).map((_, i) => [10, 10, 240][i % 3]);
  process.stdout.write(Buffer.concat([frame, frame, frame]));
}
`,
    { mode: 0o755 },
  );
  return path;
}
