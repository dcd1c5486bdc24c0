/** /v1/multimodal over the socket, without any model that sees. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import sharp from "sharp";
import t, { type Test } from "tap";
import { anthropicPieces, FakeProvider, type Format, ollamaPieces, openaiPieces } from "../ai/fake-provider.js";
import { svgHasFonts } from "../ingest/sample-images.js";
import { wav } from "../ingest/wav-writer.js";
import { picture, post, started } from "./multimodal-fixture.js";

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
      [{ image_url: `${host}/words` }, /^image_url: is text\/plain, and must be image/],
      [{ image_url: "nonsense" }, /^image_url: is no address/],
      [{ image_url: `https://example.com/${"a".repeat(5000)}` }, /^image_url: an address must have at most 4096/],
      [{ image_url: "data:image/png,red" }, /^image_url: a "data:" address must hold base64/],
      [{ image_url: "data:image/png;base64,%%%" }, /^image_url: is not valid base64/],
    ];
    await Promise.all(
      cases.map(async ([image, message], i) => {
        const route = i % 2 === 0 ? "describe" : "images";
        const more = route === "describe" ? { prompt: "what is it?" } : {};
        const { status, body: answer } = await post(server, route, { ...more, ...image });
        t.equal(status, 400, `${route} ${JSON.stringify(image).slice(0, 60)}`);
        t.match(answer.error, { code: "invalid_request", message });
      }),
    );
    t.match((await post(server, "embed", { input: { image: "%%%" } })).body.error.message, /^input.image: /);
    t.match((await post(server, "search", { query: { image: half } })).body.error.message, /^query.image: /);
    t.same((await server.rows("SELECT count(*) FROM information_schema.tables WHERE table_name = 'images'"))[0], [0]);
  });

  await t.test("an image in its address is the same image", async (t) => {
    const vectorOf = async (input: object) => (await post(server, "embed", { input })).body.data;
    t.same(await vectorOf({ image_url: `data:image/png;base64,${red}` }), await vectorOf({ image: red }));
  });

  await t.test("no model describes them: what needs none does, and it is said how to get one", async (t) => {
    for (const more of [{}, { prompt: "what is it?" }]) {
      const { status, body } = await post(server, "describe", { ...more, image: red });
      t.equal(status, 200, JSON.stringify(body));
      t.match(
        body.data.text,
        /^A PNG image of 480 × 160 pixels \(landscape\)\. Colours: red \(9\d %\), black \(\d %\)\./,
      );
      t.match(body.data, {
        model: "tessera-image-facts-1",
        facts: {
          media_type: "image/png",
          width: 480,
          height: 160,
          colors: [{ name: "red", hex: /^#[cd][0-9a-f]2020$/ }],
          exif: {},
        },
        notes: [/No model that describes images is installed.*vit-gpt2-image-captioning/],
      });
    }
    if (await svgHasFonts()) {
      const words = await post(server, "describe", { image: await picture("#ffffff", "HARBOUR") });
      t.match(words.body.data, { text: /Words in it: "[^"]*HARBOUR/, facts: { words: /HARBOUR/ } });
    }
    t.equal((await post(server, "describe", { image: red, provider: "native" })).body.error.code, "model_unavailable");
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
    const hasFonts = await svgHasFonts();
    if (!hasFonts) t.comment("this machine draws no words: reading them is not tested");
    const words = hasFonts ? {} : { caption: "LIGHTHOUSE" };
    const read = await post(server, "images", { id: "sign", image: await picture("#ffffff", "LIGHTHOUSE"), ...words });
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

    await server.expect(201, "POST", "/v1/collections", { name: "words", schema: { kind: "string", text: "string" } });
    await server.expect(201, "POST", "/v1/collections/words/documents", { id: "w", kind: "text", text: "lighthouse" });
    for (const query of [{ text: "lighthouse crimson" }, { text: "meadow" }, { image: red }]) {
      const all = (await post(server, "search", { query })).body.data.results;
      t.ok(
        all.every(({ score }: { score: number }) => score >= 0 && score <= 1),
        "scores are from 0 to 1",
      );
      for (const { id, collection, score } of all) {
        const own = await post(server, "search", { query, collections: [collection] });
        const same = own.body.data.results.find((each: { id: string }) => each.id === id);
        t.equal(same.score, score, `${id}: the same score however many collections are searched`);
      }
    }

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
