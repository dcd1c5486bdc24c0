/** Which notifications a client wants, as HELLO, BEGIN and RUN say it since Bolt 5.2. */
import type { DbError } from "../errors.js";
import { boltError } from "./failure-message.js";
import type { PackMap } from "./pack-reader.js";

export type NotificationSeverity = "WARNING" | "INFORMATION";

export interface NotificationFilter {
  /** "OFF": none. */
  readonly minimum: NotificationSeverity | "OFF";
  readonly disabled: readonly string[];
}

export const ALL_NOTIFICATIONS: NotificationFilter = { minimum: "INFORMATION", disabled: [] };

/** `outer`: what holds where nothing is said. Throws for what is no filter. */
export function notificationFilter(said: PackMap, outer: NotificationFilter): NotificationFilter {
  const minimum = said.get("notifications_minimum_severity") ?? outer.minimum;
  if (minimum !== "OFF" && minimum !== "WARNING" && minimum !== "INFORMATION") {
    throw invalid('"notifications_minimum_severity" has to be "OFF", "WARNING" or "INFORMATION".');
  }
  // Bolt 5.5 gave them another name.
  const disabled =
    said.get("notifications_disabled_classifications") ??
    said.get("notifications_disabled_categories") ??
    outer.disabled;
  if (!Array.isArray(disabled) || !disabled.every((each) => typeof each === "string")) {
    throw invalid('"notifications_disabled_categories" has to be a list of strings.');
  }
  return { minimum, disabled };
}

function invalid(message: string): DbError {
  return boltError("invalid_request", "Neo.ClientError.Request.Invalid", message);
}
