/** Tessera for bench/bulk: a server with its default configuration, asked over HTTP. */
import { setTimeout as sleep } from "node:timers/promises";
import { TesseraServer } from "../contenders/tessera-server.js";
import { cpuSecondsOf } from "../processes.js";
import type { Side } from "./side.js";

/** The server is idle when it used less than a tenth of a core for so long. */
const IDLE_MS = 500;
const IDLE_SHARE = 0.1;

export async function tesseraSide(): Promise<Side> {
  const server = await TesseraServer.start();
  const cpuSeconds = () => cpuSecondsOf([server.pid]);
  return {
    name: "tessera",
    query: (sql) => server.ask(sql.trim().replace(/;$/, "")),
    cpuSeconds,
    settle: async () => {
      for (let before = cpuSeconds(), used = 1; used > IDLE_SHARE; ) {
        await sleep(IDLE_MS);
        const now = cpuSeconds();
        used = (1000 * (now - before)) / IDLE_MS;
        before = now;
      }
    },
    stop: async () => {
      // Threads write their profiles (SERVER_FLAGS) when they end by themselves.
      await server.end("clean");
      await server.stop();
    },
  };
}
