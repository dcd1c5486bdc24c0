/** What every handler is: from a request and its checked input to an answer, at once or later. */
import { LIST_PAGE_DEFAULT, LIST_PAGE_MAX } from "../../protocol/limits.js";
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

/** The same with the usual page where a request says nothing, and the largest there is where it asks for more. */
export function usualPageOf(query: Input["query"]): { limit: number; offset: number } {
  const { limit = LIST_PAGE_DEFAULT, offset = 0 } = pageOf(query);
  return { limit: Math.min(limit, LIST_PAGE_MAX), offset };
}
