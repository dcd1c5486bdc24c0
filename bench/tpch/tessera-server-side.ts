/** Tessera as its users have it: a server with its default configuration, filled by the import of CSV. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadParser, parseSql } from "../../src/sql/parse/parse.js";
import { TesseraServer } from "../contenders/tessera-server.js";
import { removeDirectory, temporaryDirectory } from "../servers.js";
import { generate, TABLES } from "./generate.js";
import { writeCsvFiles } from "./postgres-side.js";
import type { TpchSide } from "./side.js";

const NOTICE_MS = 20;
/** A file is taken in one transaction. */
const ROWS_PER_FILE = 1_000_000;

export async function tesseraServerSide(schema: string): Promise<TpchSide> {
  const server = await TesseraServer.start();
  const folder = temporaryDirectory("tpch");
  return {
    name: "tessera",
    load: async (scale) => {
      await loadParser();
      for (const { text } of parseSql(schema)) await server.ask(text);
      for (const table of TABLES) {
        const pathOf = (number: number): string => join(folder, `${table}-${number}.csv`);
        const files = writeCsvFiles(pathOf, ROWS_PER_FILE, (emit) => generate(table, scale, emit));
        // It took long: that the server has closed idle connections meanwhile is noticed now.
        await sleep(NOTICE_MS);
        for (const file of files) {
          await server.importCsv(table, file, false);
          rmSync(file);
        }
      }
      await server.ask("ANALYZE");
    },
    query: (sql) => server.ask(sql.trim().replace(/;$/, "")),
    restart: async () => {
      await server.end("clean");
      await server.startAndAsk("SELECT 1");
    },
    stop: async () => {
      await server.stop();
      removeDirectory(folder);
    },
  };
}
