/** What every handler is: from a request and its checked input to an answer, at once or later. */
import { DbError } from "../protocol/errors.js";
import { LIST_PAGE_DEFAULT, LIST_PAGE_MAX } from "../protocol/limits.js";
import type { Answer } from "./reply.js";
import type { Request } from "./request.js";
import type { Input } from "./validate.js";

export type Handler = (request: Request, input: Input) => Answer | Promise<Answer>;

/**
 * `limit` and `offset` of a list route, or what `page` and `page_size` mean by them; the patterns in the schemas leave only digits.
 * Throws invalid_request for page 0.
 */
export function pageOf(query: Input["query"]): { limit?: number; offset?: number } {
  const { page, offset, limit = query.page_size ?? query.pageSize } = query;
  if (page !== undefined && Number(page) < 1) {
    throw new DbError("invalid_request", 'The query parameter "page" counts from 1.', { field: "page" });
  }
  const isPaged = page !== undefined && offset === undefined;
  const size = limit ?? (isPaged ? String(LIST_PAGE_DEFAULT) : undefined);
  const skipped = isPaged ? (Number(page) - 1) * Number(size) : offset;
  return {
    ...(size === undefined ? {} : { limit: Number(size) }),
    ...(skipped === undefined ? {} : { offset: Number(skipped) }),
  };
}

/** The same with the usual page where a request says nothing, and the largest there is where it asks for more. */
export function usualPageOf(query: Input["query"]): { limit: number; offset: number } {
  const { limit = LIST_PAGE_DEFAULT, offset = 0 } = pageOf(query);
  return { limit: Math.min(limit, LIST_PAGE_MAX), offset };
}
