/** Answers GET /admin/cluster. Called by gateway.ts; stateless. */
import type { PartitionRoutes } from "./partition-routes.js";
import { JSON_TYPE } from "./reply.js";
import type { ServeCaller } from "./route.js";

export function serveCluster(routes: PartitionRoutes | null): ServeCaller {
  return (exchange) => {
    const answer = (found: object): void => {
      if (exchange.answered) return;
      const data = JSON.stringify(found);
      const meta = JSON.stringify({ request_id: exchange.requestId, timestamp: new Date().toISOString() });
      exchange.answer(200, JSON_TYPE, "Cache-Control: no-store", `{"data":${data},"meta":${meta}}`);
    };
    if (routes === null) {
      answer({ enabled: false });
      return;
    }
    exchange.waitForAnswer();
    routes.describe().then(answer, () => {
      if (!exchange.answered) exchange.fail("log_unavailable");
    });
  };
}
