import { once } from "node:events";
import { Worker } from "node:worker_threads";
import t from "tap";
import { startGateway } from "../../src/gateway/gateway.js";
import { FakeClock } from "./fake-clock.js";
import { gatewayConfig } from "./gateway-config.js";
import { memoryLogger } from "./memory-logger.js";
import { SECRET, tokenOf } from "./test-gateway.js";

t.test("a real thread answers, crashes, comes back and ends", async (t) => {
  const clock = new FakeClock();
  const threads: Worker[] = [];
  const { logger, lines } = memoryLogger();
  const gateway = await startGateway({
    startInference: () => undefined,
    config: gatewayConfig(),
    secret: SECRET,
    version: "1",
    logger,
    clock,
    actors: 1,
    partitions: 1,
    spawn() {
      threads.push(new Worker(new URL("./echo-worker.js", import.meta.url)));
      return threads.at(-1)!;
    },
  });
  t.equal(gateway.adminPassword, "made up");
  const execute = (body: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${gateway.port}/v1/query/execute`, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${tokenOf(clock, {})}`, "content-type": "application/json" },
    });
  const texts = Array.from({ length: 100 }, (_, i) => `body ${i}`);
  t.strictSame(await Promise.all(texts.map(async (text) => (await execute(text)).text())), texts);
  t.equal((await execute("crash")).status, 503);
  t.match(lines, [{ err: { message: "as asked" } }, { complaint: "as asked" }]);
  clock.advance(100);
  await once(threads[1]!, "message");
  t.equal(await (await execute("again")).text(), "again");
  const ended = once(threads[1]!, "exit");
  await gateway.close();
  t.strictSame(await ended, [0]);
});
