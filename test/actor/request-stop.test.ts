/** What a request waits for hears that it is to stop: from whoever ends the request, and when its deadline passes. */
import { once } from "node:events";
import t from "tap";
import { RequestStop } from "../../src/actor/request-stop.js";

function stopping() {
  let reason: Error | null = null;
  const stop = new RequestStop(() => {
    if (reason !== null) throw reason;
  });
  return {
    stop,
    end: (error: Error) => {
      reason = error;
    },
  };
}

t.test("the deadline", async (t) => {
  // The timer of the deadline keeps no process running.
  const running = setInterval(() => undefined, 1000);
  t.teardown(() => clearInterval(running));
  const { stop, end } = stopping();
  end(new Error("too late"));
  stop.watch(Date.now() - 1000);
  await once(stop.signal, "abort");
  t.match(stop.signal.reason, { message: "too late" });
});

t.test("the end by somebody", (t) => {
  const { stop, end } = stopping();
  stop.watch(Date.now() + 1e12);
  stop.look();
  t.notOk(stop.signal.aborted, "it goes on");
  end(new Error("cancelled"));
  stop.look();
  t.match(stop.signal.reason, { message: "cancelled" });
  t.end();
});
