/** Images of a folder over a real socket: found by looks, shown small; and options of a collection that change. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import t from "tap";
import { makeDualEncoder } from "../ai/vision/tiny-vision.js";
import { filesOf, ROUTE, ready, TestFolder, until, untilEqual } from "./filesystem-folder.js";
import { picture, post } from "./multimodal-fixture.js";
import { TestServer } from "./server.js";

t.test("images of a folder", async (t) => {
  const folder = new TestFolder();
  const models = mkdtempSync(join(tmpdir(), "tessera-files-models-"));
  makeDualEncoder(models);
  const server = await TestServer.start({ TESSERA_FILES_ROOTS: folder.root, TESSERA_AI_MODEL_ROOT: models });
  t.teardown(async () => {
    await server.stop();
    folder.end();
    rmSync(models, { recursive: true });
  });
  const pictures = { red: await picture("#e01010"), blue: await picture("#1010e0"), green: await picture("#10e010") };
  for (const [name, image] of Object.entries(pictures)) folder.put(`${name}.png`, Buffer.from(image, "base64"));
  folder.put("long.txt", Array.from({ length: 60 }, (_, i) => `Sentence ${i} is about number ${i * 7}.`).join(" "));
  const id = (await server.expect(201, "POST", ROUTE, { name: "album", watch_dir: folder.root })).body.data.id;
  await ready(server, id);
  const found = async (image: string, more: object = {}) => {
    const { status, body } = await post(server, "search", { query: { image }, limit: 1, ...more });
    t.equal(status, 200, JSON.stringify(body));
    return body.data;
  };

  await t.test("are found by an image, and it is said how", async (t) => {
    for (const [name, image] of Object.entries(pictures)) {
      const data = await found(image);
      t.match(data, {
        results: [
          { collection: "album", modality: "image", method: "dual_encoder", document: { file: `${name}.png` } },
        ],
        methods: ["dual_encoder"],
        model: "tiny-clip",
      });
      t.same(
        Object.keys(data.results[0].document).filter((field) => /visual|vector/.test(field)),
        [],
      );
    }
    const { data } = (await post(server, "search", { query: { text: "blue" }, modalities: ["image"], limit: 1 })).body;
    t.match(
      data,
      { results: [{ document: { file: "blue.png" } }], model: "tiny-clip" },
      "words find them by their looks",
    );
    const file = (await filesOf(server, id)).find(({ path }) => path === "red.png");
    t.same(file.metadata.looks, ["tessera-visual-1", "tiny-clip"]);
    const embedded = (await post(server, "embed", { input: { image: pictures.red }, model: "tessera-visual-1" })).body;
    const near = { vector: embedded.data.embedding, limit: 1 };
    const search = async (body: object) =>
      (await server.expect(200, "POST", "/v1/collections/album/search", body)).body;
    t.equal((await search(near)).data.documents[0].file, "red.png", "the field is told by the length of the vector");
    const words = (await post(server, "embed", { input: { text: "number 77" }, model: "tessera-embed-384" })).body.data;
    t.equal((await search({ vector: words.embedding, limit: 1 })).data.documents[0].file, "long.txt");
    t.equal((await search({ query: "sentence about number 77", limit: 1 })).data.mode, "hybrid");
    const [row] = await server.rows("SELECT file FROM search('album', 'sentence about number 77', 1)");
    t.same(row, ["long.txt"], "SQL compares words with vectors of texts");
  });

  await t.test("have thumbnails", async (t) => {
    folder.put(
      "large.jpg",
      await sharp({ create: { width: 900, height: 600, channels: 3, background: "#888" } })
        .jpeg()
        .toBuffer(),
    );
    const large = await until(async () => {
      const file = (await filesOf(server, id)).find(({ path }) => path === "large.jpg");
      return file?.status === "indexed" ? file : null;
    });
    t.equal(large.thumbnail_url, `${ROUTE}/${id}/documents/${large.id}/thumbnail`);
    const get = (path: string, token = server.token, accept = "*/*") =>
      fetch(server.url + path, { headers: { authorization: `Bearer ${token}`, accept } });
    const reply = await get(large.thumbnail_url);
    t.equal(reply.status, 200);
    t.equal(reply.headers.get("content-type"), "image/webp");
    t.equal(reply.headers.get("x-content-type-options"), "nosniff");
    for (const [accept, status] of [
      ["image/*", 200],
      ["text/html;q=0.9, IMAGE/*;q=0.5", 200],
      ["image/webp", 200],
      ["image/png", 406],
      ["image/*;q=0", 406],
    ] as const) {
      t.equal((await get(large.thumbnail_url, server.token, accept)).status, status, accept);
    }
    const shown = (await server.expect(200, "GET", `${ROUTE}/${id}`)).body.data;
    for (const time of [shown.created_at, shown.updated_at, shown.last_scan_at, large.found_at, large.read_at]) {
      t.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, "as the other times of the API");
    }
    const bytes = Buffer.from(await reply.arrayBuffer());
    t.match(await sharp(bytes).metadata(), { format: "webp", width: 256, height: 171 });
    const text = (await filesOf(server, id)).find(({ path }) => path === "long.txt");
    t.equal(text.thumbnail_url, null);
    t.equal((await get(`${ROUTE}/album/documents/${text.id}/thumbnail`)).status, 404);
    t.equal(
      (await get(large.thumbnail_url, await server.tenant("other"))).status,
      404,
      "another tenant's is not told of",
    );
    folder.move("large.jpg", "moved/large.jpg");
    await untilEqual(server, id, "album", folder);
    t.equal((await get(large.thumbnail_url)).status, 200, "it moves with its file");
    folder.remove("moved");
    await untilEqual(server, id, "album", folder);
    t.equal((await get(large.thumbnail_url)).status, 404, "and goes with it");
    t.same(await server.rows(`SELECT count(*) FROM "_file_thumbnails"`), [[3]]);
  });

  await t.test("of a collection that was made before are so once they are read anew", async (t) => {
    await server.expect(200, "PATCH", "/v1/collections/album", { drop_fields: ["vector_tiny_clip"] });
    t.match(await found(pictures.blue), {
      results: [{ document: { file: "blue.png" }, method: "visual_feature" }],
      methods: ["visual_feature"],
      model: "tessera-visual-1",
    });
    await server.expect(200, "PATCH", "/v1/collections/album", { drop_fields: ["visual"] });
    await server.rows(`DROP TABLE "_file_thumbnails"`);
    folder.put("grey.png", Buffer.from(await picture("#888888"), "base64"));
    await untilEqual(server, id, "album", folder);
    const grey = (await filesOf(server, id)).find(({ path }) => path === "grey.png");
    t.match(grey.notes.join("\n"), /looks: .*reprocess/, "it goes on working, and says what is missing");
    const blind = await post(server, "search", { query: { image: pictures.blue }, collections: ["album"] });
    t.match(blind, { status: 400, body: { error: { message: /album.*no vectors of images/ } } });
    await server.expect(202, "POST", `${ROUTE}/${id}/reprocess`, {});
    await ready(server, id);
    t.match(await found(pictures.blue), { results: [{ document: { file: "blue.png" }, method: "dual_encoder" }] });
    t.ok((await filesOf(server, id)).filter(({ thumbnail_url: url }) => url !== null).length === 4);
  });

  await t.test("options change, and what they concern is read anew", async (t) => {
    const patch = (body: object, options = {}) => server.call("PATCH", `${ROUTE}/${id}`, body, options);
    for (const [body, field] of [
      [{ name: "other" }, "name"],
      [{ watch_dir: "/etc" }, "watch_dir"],
      [{ path: `${folder.root}/..` }, "path"],
      [{ embed_text: false }, "embed_text"],
      [{ chunk_size: 1 }, "chunk_size"],
      [{ chunk_size: 150 }, "overlap"],
      [{ include: ["a{b"] }, "include"],
      [{ debounce_ms: -1 }, "debounce_ms"],
      [{ colour: "red" }, "colour"],
    ] as const) {
      const { status, body: answer } = await patch(body);
      t.equal(status, 400, JSON.stringify(answer));
      t.match(JSON.stringify(answer.error), field, field);
    }
    t.equal((await patch({})).status, 400, "nothing is no change");
    const before = new Map((await filesOf(server, id)).map((file) => [file.path, file]));
    const same = await patch({ name: "album", embed_text: true, paused: false, debounce_ms: 20 });
    t.match(same, { status: 200, body: { data: { queued: 0, debounce_ms: 20, chunk_size: 1000 } } }, "as it is");
    // Reading words takes long; that it is asked for of images alone is seen while nothing is read.
    t.match(await patch({ paused: true, ocr_images: true }), { body: { data: { queued: 4, ocr_images: true } } });
    for (const { path, status } of await filesOf(server, id)) {
      t.equal(status, path.endsWith(".png") ? "pending" : "indexed", path);
    }
    t.match(await patch({ paused: false, ocr_images: false }), { body: { data: { queued: 4 } } });
    await ready(server, id);
    for (const { path, read_at: readAt } of await filesOf(server, id)) {
      t.equal(readAt > before.get(path).read_at, path.endsWith(".png"), `${path}: only images are read anew`);
    }
    t.match(await patch({ chunk_size: 200, chunk_overlap: 20 }), { body: { data: { queued: 5, overlap: 20 } } });
    await untilEqual(server, id, "album", folder);
    const chunks = async () => (await filesOf(server, id)).find(({ path }) => path === "long.txt").chunk_count;
    await until(async () => (await chunks()) > before.get("long.txt").chunk_count);
    t.same(await server.rows("SELECT max(length(text)) <= 200 FROM album WHERE file = 'long.txt'"), [[true]]);
    await patch({ exclude: ["**/.*", "*.png"] });
    // What is left out goes, with its passages.
    await until(async () => (await server.rows("SELECT DISTINCT file FROM album")).join() === "long.txt");
    t.equal((await filesOf(server, id)).length, 1);
    await patch({ exclude: ["**/.*"] });
    await untilEqual(server, id, "album", folder);
    const key = await server.expect(201, "POST", "/v1/api-keys", { name: "k", permission: "ReadOnly" });
    t.equal((await patch({ paused: true }, { token: key.body.raw_key })).status, 403);
    await server.expect(204, "DELETE", `${ROUTE}/${id}`);
    t.same(await server.rows(`SELECT count(*) FROM "_file_thumbnails"`), [[0]]);
  });
});
