/** A folder of a test's, and whether a filesystem collection equals it: by paths, digests and texts. */
import { createHash } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestServer } from "./server.js";

export const ROUTE = "/v1/filesystem-collections";

export class TestFolder {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "tessera-files-")));

  put(path: string, content: string | Uint8Array): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), content);
  }

  move(from: string, to: string): void {
    mkdirSync(dirname(join(this.root, to)), { recursive: true });
    renameSync(join(this.root, from), join(this.root, to));
  }

  remove(path: string): void {
    rmSync(join(this.root, path), { recursive: true, force: true });
  }

  /** Paths of the files that a scan finds. */
  paths(): string[] {
    return readdirSync(this.root, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.root.length + 1))
      .filter((path) => !path.split("/").some((name) => name.startsWith(".")))
      .sort();
  }

  text(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }

  digest(path: string): string {
    return createHash("sha256")
      .update(readFileSync(join(this.root, path)))
      .digest("hex");
  }

  end(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Until `what` answers something; the test's own time ends it. */
export async function until<T>(what: () => Promise<T | null | false>): Promise<T> {
  for (;;) {
    const value = await what();
    if (value !== null && value !== false) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect; a wrong shape fails the test.
export async function filesOf(server: TestServer, id: string): Promise<any[]> {
  const files = [];
  for (let offset = 0; ; offset += 500) {
    const path = `${ROUTE}/${id}/documents?limit=500&offset=${offset}`;
    const { documents } = (await server.expect(200, "GET", path)).body.data;
    files.push(...documents);
    if (documents.length < 500) return files;
  }
}

export async function ready(server: TestServer, id: string): Promise<void> {
  await until(async () => {
    const { status, last_scan_at: scanned } = (await server.expect(200, "GET", `${ROUTE}/${id}`)).body.data;
    return status === "ready" && scanned !== null;
  });
}

/**
 * What differs between the folder and the collection; nothing, once it has caught up. Of text files of one passage the
 * text is compared, too.
 */
export async function differences(server: TestServer, id: string, name: string, folder: TestFolder): Promise<string[]> {
  const faults: string[] = [];
  const files = new Map((await filesOf(server, id)).map((file) => [file.path, file]));
  const passages = new Map<string, string[]>();
  const body = { sql: `SELECT file, text, document_id FROM ${name} ORDER BY file, chunk`, max_rows: 1_000_000 };
  for (const [file, text, document] of (await server.expect(200, "POST", "/v1/query/execute", body)).body.data.rows) {
    passages.set(file, [...(passages.get(file) ?? []), text]);
    if (files.get(file)?.id !== document) faults.push(`a passage of ${file} is of no file that is there`);
  }
  for (const path of folder.paths()) {
    const file = files.get(path);
    files.delete(path);
    if (file === undefined) faults.push(`${path} is missing`);
    else if (file.status !== "indexed") faults.push(`${path} is ${file.status}: ${file.error}`);
    else if (file.hash !== folder.digest(path)) faults.push(`${path} has another content`);
    else if (file.chunk_count !== passages.get(path)?.length) faults.push(`${path} has not its passages`);
    else if (path.endsWith(".txt") && file.chunk_count === 1 && passages.get(path)![0] !== folder.text(path).trim()) {
      faults.push(`${path} has another text`);
    }
  }
  for (const path of files.keys()) faults.push(`${path} is not in the folder`);
  return faults;
}

/** Until the collection equals the folder; throws what differs at last. */
export async function untilEqual(
  server: TestServer,
  id: string,
  name: string,
  folder: TestFolder,
  waitMsMax = 30_000,
): Promise<void> {
  const end = Date.now() + waitMsMax;
  for (;;) {
    const faults = await differences(server, id, name, folder);
    if (faults.length === 0) return;
    if (Date.now() > end) throw new Error(`the collection differs from its folder:\n${faults.slice(0, 20).join("\n")}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
