/** Tessera for bench/growth, with a neighbour on its actor. */
import { measuredVersion } from "../contenders/contenders.js";
import { TesseraServer } from "../contenders/tessera-server.js";
import { removeDirectory, temporaryDirectory } from "../servers.js";
import { NeighbourReads } from "./neighbour-reads.js";
import type { GrowthSide } from "./side.js";

export async function tesseraSide(): Promise<GrowthSide> {
  const server = await TesseraServer.start();
  const beside = temporaryDirectory("neighbour");
  const reads = await NeighbourReads.prepare(server, beside);
  return {
    id: "tessera",
    name: "Tessera",
    version: measuredVersion(),
    folder: server.folder,
    get roots() {
      return [server.pid];
    },
    start: (question) => server.startAndAsk(question),
    end: (how) => server.end(how),
    importCsv: (file) => server.importCsv("t", file, true),
    query: (sql) => server.ask(sql),
    neighbour: { begin: () => reads.begin(server.url), end: () => reads.end() },
    stop: async () => {
      await server.stop();
      removeDirectory(beside);
    },
  };
}
