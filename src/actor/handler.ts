/** What every handler is: from a request and its checked input to an answer, at once or later. */
import type { EndpointName } from "../protocol/endpoints.js";
import { DbError } from "../protocol/errors.js";
import { LIST_PAGE_DEFAULT, LIST_PAGE_MAX } from "../protocol/limits.js";
import type { Answer } from "../session/answer.js";
import type { Request } from "./request.js";
import type { InputOf } from "./validate.js";

/** Typed by its endpoint's schemas; without one it takes any input. */
export type Handler<E extends EndpointName = EndpointName> = (
  request: Request,
  input: InputOf<E>,
) => Answer | Promise<Answer>;

/** By the names of their endpoints. */
export type Handlers = { readonly [E in EndpointName]?: Handler<E> };

/** The same with none missing. */
export type AllHandlers<E extends EndpointName> = { readonly [N in E]: Handler<N> };

type Paging = Partial<Readonly<Record<"limit" | "offset" | "page" | "pageSize" | "page_size", string>>>;

/**
 * `limit` and `offset` of a list route, or what `page` and `page_size` mean by them; the patterns in the schemas leave only digits.
 * Throws invalid_request for page 0.
 */
export function pageOf(query: Paging): { limit?: number; offset?: number } {
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
export function usualPageOf(query: Paging): { limit: number; offset: number } {
  const { limit = LIST_PAGE_DEFAULT, offset = 0 } = pageOf(query);
  return { limit: Math.min(limit, LIST_PAGE_MAX), offset };
}
