/** What every handler is: from a request and its checked input to an answer, at once or later. */
import type { Answer } from "../reply.js";
import type { Request } from "../request.js";
import type { Input } from "../validate.js";

export type Handler = (request: Request, input: Input) => Answer | Promise<Answer>;

/** `limit` and `offset` of a list route; the patterns in the schemas leave only digits. */
export function pageOf(query: Input["query"]): { limit?: number; offset?: number } {
  return {
    ...(query.limit === undefined ? {} : { limit: Number(query.limit) }),
    ...(query.offset === undefined ? {} : { offset: Number(query.offset) }),
  };
}
