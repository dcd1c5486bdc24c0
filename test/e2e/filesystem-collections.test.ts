/**
 * Filesystem collections over a real socket: a folder becomes a collection, is searched, followed, paused and deleted.
 */
import t from "tap";
import { sized } from "../lengths.js";
import { filesOf, ROUTE, ready, TestFolder, until, untilEqual } from "./filesystem-folder.js";
import { TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

t.test("a folder as a collection", async (t) => {
  const folder = new TestFolder();
  const other = new TestFolder();
  const many = new TestFolder();
  const server = await TestServer.start({ TESSERA_FILES_ROOTS: `${folder.root},acme:${other.root},${many.root}` });
  t.teardown(async () => {
    await server.stop();
    folder.end();
    other.end();
    many.end();
  });
  folder.put("notes/sea.md", "# Sea\n\nThe lighthouse keeper counts waves.\n\n## Fish\n\nCod swim in deep water.");
  folder.put("mountain.txt", "Marmots whistle when an eagle crosses the valley.");
  folder.put("long.txt", Array.from({ length: 300 }, (_, i) => `Sentence ${i} is about number ${i * 7}.`).join(" "));
  folder.put(".git/config", "hidden");
  folder.put(
    "broken.md",
    Uint8Array.from({ length: 500 }, (_, i) => (i * 37) % 256),
  );
  const progressOf = async (id: string) => {
    const ticket = (await server.expect(200, "POST", "/v1/ws/ticket")).body.token;
    return SocketClient.open(server.url, `/ws/filesystem-collections/${id}/progress?token=${ticket}`);
  };
  let id = "";

  await t.test("is made with a plan of what there is to read", async (t) => {
    const body = { name: "docs", watch_dir: folder.root, embed_text: true, ocr_images: false, chunk_size: 400 };
    const { data } = (await server.expect(201, "POST", ROUTE, body)).body;
    id = data.id;
    t.equal(data.collection_id, id);
    t.match(data.plan, { files: 4, truncated: false });
    t.same(data.plan.by_kind.map(({ kind, files }: { kind: string; files: number }) => [kind, files]).sort(), [
      ["markdown", 2],
      ["text", 2],
    ]);
    t.same(
      data.ingest_plan.steps.map(({ step }: { step: string }) => step),
      ["parse", "chunk", "embed", "index", "watch"],
    );
    await server.expect(409, "POST", ROUTE, body);
  });

  await t.test("every file is accounted for, and passages are found", async (t) => {
    await ready(server, id);
    const files = await filesOf(server, id);
    t.same(
      files.map(({ path, status }) => [path, status]),
      [
        ["broken.md", "failed"],
        ["long.txt", "indexed"],
        ["mountain.txt", "indexed"],
        ["notes/sea.md", "indexed"],
      ],
    );
    t.match(files[0], { error_code: /^file_(corrupt|unsupported)$/, quarantined: true, chunk_count: 0 });
    t.equal(files[2].hash, folder.digest("mountain.txt"));
    t.ok(files[1].chunk_count > 10);
    const search = (body: object) => server.expect(200, "POST", "/v1/collections/docs/search", body);
    const { documents } = (await search({ query: "what do marmots do when birds of prey appear?" })).body.data;
    t.match(documents[0], { file: "mountain.txt", kind: "text", chunk: 0, start_offset: 0 });
    const fish = (await search({ query: "lighthouse", filter: { file: "notes/sea.md" } })).body.data.documents;
    t.match(fish[0], { title: "Sea", heading: /Sea/ });
    const failed = (await server.expect(200, "GET", `${ROUTE}/docs/documents?status=failed`)).body.data;
    t.equal(failed.total, 1, "by name, and by status");
    const one = (await server.expect(200, "GET", `${ROUTE}/${id}`)).body.data;
    t.match(one, { status: "ready", error: null, files: { total: 4, indexed: 3, failed: 1, pending: 0 }, progress: 1 });
    t.equal((await server.expect(200, "GET", ROUTE)).body.data.total, 1);
  });

  await t.test("changes of the folder are followed and told", async (t) => {
    const socket = await progressOf(id);
    t.match(await socket.next(), { type: "scan_complete", collection_id: id, status: "ready" }, "the last word first");
    const nextOf = async (type: string) => {
      for (;;) {
        const message = await socket.next();
        if (message.type === type) return message;
      }
    };
    folder.put("new.txt", "A heron stands in the reeds.");
    t.match(await nextOf("file_processing"), { filename: "new.txt", status: "processing" });
    t.match(await nextOf("file_done"), { filename: "new.txt", status: "indexed", error: null });
    t.match(await nextOf("scan_complete"), { progress: 1, files: 5 });
    const before = (await filesOf(server, id)).find(({ path }) => path === "mountain.txt");
    folder.move("mountain.txt", "hills/valley.txt");
    folder.put("new.txt", "The heron has left.");
    folder.remove("notes");
    folder.put("broken.md", "# Whole again");
    await untilEqual(server, id, "docs", folder);
    const after = (await filesOf(server, id)).find(({ path }) => path === "hills/valley.txt");
    t.equal(after.id, before.id, "a file that is moved stays the same");
    t.equal(after.read_at, before.read_at, "and is not read again");
    folder.put(
      "hills/valley.txt",
      Uint8Array.from({ length: 300 }, (_, i) => (i * 31) % 256),
    );
    t.match(await nextOf("file_failed"), { filename: "hills/valley.txt", error: /valley/ });
    folder.put("hills/valley.txt", "The eagle has landed.");
    await untilEqual(server, id, "docs", folder);
    socket.send({ type: "query", sql: "SELECT 1" });
    t.match(await nextOf("error"), { code: "invalid_request" }, "it is asked for nothing else");
    socket.close();
  });

  await t.test("is paused and goes on", async (t) => {
    const socket = await progressOf(id);
    await server.expect(200, "PATCH", `${ROUTE}/${id}`, { paused: true });
    await until(async () => (await socket.next()).type === "paused");
    folder.put("while-paused.txt", "Nobody reads this yet.");
    folder.remove("new.txt");
    t.equal((await server.expect(200, "GET", `${ROUTE}/${id}`)).body.data.status, "paused");
    const again = (await server.expect(202, "POST", `${ROUTE}/${id}/reprocess`, {})).body.data;
    t.match(again, { queued: 4, paused: true });
    t.same(
      (await filesOf(server, id)).filter(({ path }) => path === "while-paused.txt"),
      [],
    );
    await server.expect(200, "PATCH", `${ROUTE}/${id}`, { paused: false });
    await until(async () => (await socket.next()).type === "resumed");
    await untilEqual(server, id, "docs", folder);
    socket.close();
  });

  await t.test("one file is read anew on request", async () => {
    const [file] = await filesOf(server, id);
    await server.expect(202, "POST", `${ROUTE}/${id}/reprocess`, { document_id: file.id });
    await until(async () => {
      const [now] = await filesOf(server, id);
      return now.status === "indexed" && now.read_at > file.read_at;
    });
    await untilEqual(server, id, "docs", folder);
    await server.expect(404, "POST", `${ROUTE}/${id}/reprocess`, { path: "no/such.file" });
  });

  await t.test("who may do what", async (t) => {
    const make = (body: object, token?: string) =>
      server.call("POST", ROUTE, { name: "mine", ...body }, token === undefined ? {} : { token });
    const user = await server.tenant("beta");
    const admin = await server.tenant("acme", ["admin"]);
    const refused = await make({ watch_dir: folder.root }, user);
    t.match(refused, { status: 403, body: { error: { code: "forbidden", message: /permission/ } } }, "not every user");
    for (const path of [other.root, "/etc", `${folder.root}/../..`, `${folder.root}/../${other.root.slice(5)}`]) {
      t.match(await make({ watch_dir: path }), { status: 403 }, path);
    }
    t.match(await make({ watch_dir: `${folder.root}/nothing` }), {
      status: 400,
      body: { error: { message: /does not exist/ } },
    });
    t.match(await make({}), { status: 400 });
    t.match(await make({ watch_dir: folder.root, path: folder.root }), { status: 400 });
    t.match(await make({ path: folder.root, include: ["a{b"] }), {
      status: 400,
      body: { error: { message: /include\[0\]/ } },
    });
    t.match(await make({ path: folder.root, chunk_size: 200, overlap: 150 }), { status: 400 });
    t.match(await make({ path: folder.root, frobnicate: 1 }), { status: 400 });
    other.put("own.txt", "Only for acme.");
    const own = await server.expect(201, "POST", ROUTE, { name: "own", path: other.root }, { token: admin });
    const ownId = own.body.data.id;
    await until(async () => {
      const { data } = (await server.expect(200, "GET", `${ROUTE}/${ownId}`, undefined, { token: admin })).body;
      return data.status === "ready";
    });
    t.equal((await server.expect(200, "GET", ROUTE)).body.data.total, 1, "tenants do not see each other's");
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/documents"],
      ["DELETE", ""],
      ["POST", "/reprocess"],
    ] as const) {
      t.equal((await server.call(method, `${ROUTE}/${ownId}${path}`)).status, 404, `${method} ${path}`);
    }
    const ticket = (await server.expect(200, "POST", "/v1/ws/ticket")).body.token;
    const socket = await SocketClient.open(server.url, `/ws/filesystem-collections/${ownId}/progress?token=${ticket}`);
    t.match(await socket.next(), { type: "error", code: "not_found" });
    const key = await server.expect(201, "POST", "/v1/api-keys", { name: "k", permission: "ReadOnly" });
    const options = { token: key.body.raw_key };
    await server.expect(403, "DELETE", `${ROUTE}/${id}`, undefined, options);
    await server.expect(200, "GET", `${ROUTE}/${id}`, undefined, options);
    await server.expect(426, "GET", `/ws/filesystem-collections/${id}/progress`);
    // What a record says does not widen what may be read.
    await server.rows(`UPDATE "_file_collections" SET root = $1`, [other.root]);
    await server.expect(200, "PATCH", `${ROUTE}/${id}`, { paused: false });
    await until(async () =>
      /permission/.test((await server.expect(200, "GET", `${ROUTE}/${id}`)).body.data.error ?? ""),
    );
    t.same(await server.rows(`SELECT count(*) FROM docs WHERE text LIKE '%acme%'`), [[0]]);
    await server.rows(`UPDATE "_file_collections" SET root = $1`, [folder.root]);
    await server.expect(200, "PATCH", `${ROUTE}/${id}`, { paused: false });
    await untilEqual(server, id, "docs", folder);
  });

  await t.test("by statements of SQL", async (t) => {
    const create = `CREATE COLLECTION shelf FROM FILESYSTEM '${folder.root}' WITH (embed_text = false, include = '*.txt,*.md', chunk_size = 300)`;
    const made = (await server.sql(create)).body.data;
    t.notOk("notices" in made, "nothing is said of tables behind it");
    const [[said]] = made.rows;
    t.match(said, /Collection "shelf" created \(fsc_/);
    const { data } = (await server.expect(200, "GET", `${ROUTE}/shelf`)).body;
    t.match(data, { embed_text: false, chunk_size: 300, include: ["*.txt", "*.md"] });
    await untilEqual(server, data.id, "shelf", folder);
    t.match(await server.sql(create), { status: 409 });
    t.match(await server.sql("CREATE COLLECTION x FROM FILESYSTEM '/etc'"), { status: 403 });
    t.match(await server.sql(`CREATE COLLECTION x FROM FILESYSTEM '${folder.root}' WITH (sizes = 3)`), { status: 400 });
    t.match(await server.sql("CREATE COLLECTION x FROM somewhere"), {
      status: 400,
      body: { error: { code: "syntax_error" } },
    });
    const batch = { statements: [create.replace("shelf", "undone"), "SELECT 1/0"], transactional: true };
    await server.call("POST", "/v1/query/execute/batch", batch);
    t.equal((await server.call("GET", `${ROUTE}/undone`)).status, 404, "a rollback takes it back");
    t.same(await server.rows("DROP COLLECTION shelf"), [['Collection "shelf" dropped.']]);
    t.equal((await server.call("GET", `${ROUTE}/shelf`)).status, 404);
    t.equal((await server.sql("SELECT 1 FROM shelf")).status, 400);
    t.match(await server.sql("DROP COLLECTION shelf"), { status: 400, body: { error: { message: /does not exist/ } } });
    t.equal((await server.sql("DROP COLLECTION IF EXISTS shelf")).status, 200);
  });

  await t.test("is deleted, with its data or without", async (t) => {
    await server.expect(204, "DELETE", `${ROUTE}/${id}?retain_data=true`);
    await server.expect(404, "GET", `${ROUTE}/${id}`);
    const kept = (await server.rows("SELECT count(*) FROM docs"))[0]![0] as number;
    t.ok(kept > 3, "the passages stay");
    folder.put("later.txt", "Nobody follows any more.");
    const second = (await server.expect(201, "POST", ROUTE, { name: "docs2", path: folder.root })).body.data.id;
    await ready(server, second);
    await server.expect(204, "DELETE", `${ROUTE}/${second}`);
    t.equal((await server.sql("SELECT count(*) FROM docs2")).status, 400);
    t.same(await server.rows("SELECT count(*) FROM docs"), [[kept]]);
    t.same(await server.rows(`SELECT count(*) FROM "_file_documents"`), [[0]]);
    t.same(
      server.lines.filter((line) => /error|failed/.test(line)),
      [],
      "nothing went wrong behind the scenes",
    );
  });

  await t.test("is not done before its files are counted", async (t) => {
    for (let i = 0; i < sized(60, 400); i++) many.put(`part-${i % 20}/note-${i}.txt`, `Note ${i} of the harbour.`);
    const { id } = (await server.expect(201, "POST", ROUTE, { name: "many", watch_dir: many.root })).body.data;
    await until(async () => {
      const { status, files, progress } = (await server.expect(200, "GET", `${ROUTE}/${id}`)).body.data;
      if (status === "ready") return true;
      t.ok(files.total > 0 || progress === 0, `${status} ${files.total} ${progress}`);
      return false;
    });
  });
});

t.test("without folders that may be read", async (t) => {
  const server = await TestServer.shared();
  t.teardown(() => server.stop());
  const { status, body } = await server.call("POST", ROUTE, { name: "docs", watch_dir: "/tmp" });
  t.equal(status, 403);
  t.match(body.error.details.hint, /\[files\].*TESSERA_FILES_ROOTS/);
});
