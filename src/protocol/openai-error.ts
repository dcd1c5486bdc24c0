/**
 * Errors in the form of OpenAI's interface: `{error: {message, type, param, code}}`. Clients of that interface show
 * only the message, so the hint is part of it. Used by the actor and the gateway for endpoints of that form.
 */
import { ERRORS, type ErrorCode, type ErrorDetails } from "./errors.js";

/** Codes that clients of that interface know by another name. All others stay as they are. */
const NAMES: Readonly<Partial<Record<ErrorCode, string>>> = {
  unauthorized: "invalid_api_key",
  rate_limited: "rate_limit_exceeded",
};

export function openAiErrorJson(code: ErrorCode, message: string, details?: ErrorDetails): string {
  const hint = typeof details?.hint === "string" ? ` ${details.hint}` : "";
  const param = typeof details?.field === "string" ? details.field : paramOf(code);
  const error = { message: `${message}${hint}`, type: typeOf(code), param, code: NAMES[code] ?? code };
  return JSON.stringify({ error });
}

/**
 * Its clients repeat a request after every 5xx unless a header says not to, which joins the others. "name: value"
 * lines.
 */
export function openAiErrorHeaders(code: ErrorCode, others: string): string {
  const { status, retry } = ERRORS[code];
  if (status < 500 || retry) return others;
  return others === "" ? NO_RETRY : `${others}\n${NO_RETRY}`;
}

const NO_RETRY = "X-Should-Retry: false";

function paramOf(code: ErrorCode): string | null {
  return code === "model_not_found" ? "model" : null;
}

function typeOf(code: ErrorCode): string {
  const { status } = ERRORS[code];
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 || status === 408 || status === 499 ? "server_error" : "invalid_request_error";
}
