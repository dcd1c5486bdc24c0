/** How long statements may run and sessions may rest, by their settings and the configuration. */
import type { Request } from "../../actor/request.js";
import { durationMs } from "../../session/duration-setting.js";
import type { Settings } from "../../session/settings.js";

/** Of one statement, in milliseconds: `statement_timeout`, and never more than the configuration allows. */
export function timeoutOf(settings: Settings, { partition }: Request): number {
  const most = partition.config.query.timeoutSeconds * 1000;
  const asked = settings.statementTimeoutMs;
  return asked === 0 ? most : Math.min(asked, most);
}

/** Of a session between two messages, in milliseconds; 0: as long as its client wants. */
export function restOf(settings: Settings, isInTransaction: boolean): number {
  return durationMs(settings.show(isInTransaction ? "idle_in_transaction_session_timeout" : "idle_session_timeout"));
}
