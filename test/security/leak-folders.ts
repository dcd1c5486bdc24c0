/**
 * Folders of the tenants of leak-hunt.test.ts: of `papers` the reader may see the passages of one file, of `archive`
 * nothing. In one of the tenants both have files with the secret in their names and texts, too.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROUTE, until } from "../e2e/filesystem-folder.js";
import type { TestServer } from "../e2e/server.js";
import { type Ask, type Cases, get, post, sql, tool } from "./leak-ask.js";
import { PASSWORD, SECRET } from "./leak-tenants.js";

export class LeakFolders {
  private readonly root = realpathSync(mkdtempSync(join(tmpdir(), "tessera-folders-")));

  /** For the server. */
  get settings() {
    return { TESSERA_FILES_ROOTS: this.root };
  }

  end(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  async fill(server: TestServer, id: string, hides: boolean): Promise<void> {
    const token = await server.login(`${id}-boss`, PASSWORD);
    const run = (text: string) => server.expect(200, "POST", "/v1/query/execute", { sql: text }, { token });
    for (const name of ["papers", "archive"]) {
      const folder = join(this.root, id, name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "open.md"), "A common word, and another one.");
      if (hides) {
        writeFileSync(join(folder, `${SECRET}.md`), `common word common word ${SECRET}`);
        writeFileSync(join(folder, `${SECRET}.zip`), "PK");
      }
      const wanted = { name, watch_dir: folder, embed_text: false };
      await server.expect(201, "POST", ROUTE, wanted, { token });
      await until(async () => {
        const { files, status } = (await server.expect(200, "GET", `${ROUTE}/${name}`, undefined, { token })).body.data;
        return status === "ready" && files.total === (hides ? 3 : 1);
      });
    }
    await run("CREATE POLICY open ON papers USING (file = 'open.md')");
    await run("ALTER TABLE papers ENABLE ROW LEVEL SECURITY");
    await run("REVOKE ALL ON archive FROM member");
    await run("ANALYZE papers, archive, _file_collections, _file_documents");
  }
}

const NAMES = ["papers", "archive", "none"];
const each = (ask: (at: string) => Ask): Ask[] => NAMES.map((name) => ask(`${ROUTE}/${name}`));
const whole = { watch_dir: "/etc", embed_text: false };

export const FOLDER_CASES: Cases = {
  "files.create": NAMES.map((name) => post(ROUTE, { name, ...whole })),
  "files.list": [get(ROUTE), get(`${ROUTE}?limit=1`)],
  "files.get": each(get),
  "files.update": [{ paused: true }, { chunk_size: 500 }, { name: "papers" }].flatMap((body) =>
    each((path) => ({ method: "PATCH", path, body })),
  ),
  "files.delete": ["", "?retain_data=true"].flatMap((how) =>
    each((path) => ({ method: "DELETE", path: `${path}${how}` })),
  ),
  "files.documents": ["", "?status=failed", "?status=indexed", "?limit=1"].flatMap((how) =>
    each((path) => get(`${path}/documents${how}`)),
  ),
  "files.reprocess": [{}, { path: `${SECRET}.md` }].flatMap((body) =>
    each((path) => ({ path: `${path}/reprocess`, body })),
  ),
  "files.thumbnail": each((path) => get(`${path}/documents/none/thumbnail`)),
};

/** By the collections that the folders fill, and by what is recorded of them. */
export const FOLDER_SEARCHES: readonly Ask[] = [
  ...["papers", "archive"].flatMap((name) => [
    post(`/v1/collections/${name}/search`, { query: "common word" }),
    post(`/v1/collections/${name}/search`, { query: SECRET, mode: "text" }),
    sql(`SELECT file, text FROM ${name}`),
    sql(`SELECT * FROM search('${name}', 'common word')`),
    sql(`DROP COLLECTION ${name}`),
    sql(`DROP COLLECTION ${name} KEEP DATA`),
    tool("rag_search", { collection: name, query: "common word" }),
  ]),
  ...["_file_collections", "_file_documents", "_file_thumbnails"].flatMap((table) => [
    sql(`SELECT * FROM ${table}`),
    sql(`SELECT count(*) FROM ${table}`),
    sql(`EXPLAIN ANALYZE SELECT * FROM ${table}`),
    sql(`DELETE FROM ${table} RETURNING *`),
    sql(`SELECT * FROM pg_stats WHERE tablename = '${table}'`),
    sql(`SELECT n_live_tup FROM pg_stat_user_tables WHERE relname = '${table}'`),
    get(`/v1/data/export?table=${table}&format=ndjson`),
  ]),
  // What is the reader's own of the tables that features keep.
  sql("SELECT title, message_count FROM tessera_chat_sessions ORDER BY title"),
  sql("SELECT role, content FROM tessera_chat_messages ORDER BY 2"),
  sql("SELECT input FROM tessera_responses"),
  sql("SELECT persona FROM tessera_agent_runs"),
  sql("SELECT name, about FROM tessera_evaluations ORDER BY 1"),
  sql("SELECT count(*) FROM tessera_evaluation_scores"),
  sql("SELECT parameters FROM tessera_recipe_executions"),
  sql("SELECT name, spec FROM tessera_automl_jobs"),
  sql("SELECT name FROM tessera_folders"),
  sql("SELECT collection, path, size, chunks FROM tessera_files"),
  sql("EXPLAIN ANALYZE SELECT count(*) FROM tessera_files"),
];
