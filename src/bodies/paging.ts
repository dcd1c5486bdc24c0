/** Pages of list routes, which clients ask for by limit and offset or by page and page size. */
import { DbError } from "../protocol/errors.js";
import { LIST_PAGE_DEFAULT, LIST_PAGE_MAX } from "../protocol/limits.js";

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface NumberedPage extends Page {
  /** From 1. */
  readonly page: number;
}

/** The query parameters of a page. Their patterns in the schemas leave only digits. */
type Paging = Partial<Readonly<Record<"limit" | "offset" | "page" | "pageSize" | "page_size", string>>>;

/** The limit and the offset that the client asks for, in either way. Throws invalid_request for page 0. */
export function pageOf(query: Paging): Partial<Page> {
  const { page, offset, limit = query.page_size ?? query.pageSize } = query;
  if (page !== undefined && Number(page) < 1) {
    throw new DbError("invalid_request", 'The query parameter "page" must be at least 1.', { field: "page" });
  }
  const isPaged = page !== undefined && offset === undefined;
  const size = limit ?? (isPaged ? String(LIST_PAGE_DEFAULT) : undefined);
  const skipped = isPaged ? (Number(page) - 1) * Number(size) : offset;
  return {
    ...(size === undefined ? {} : { limit: Number(size) }),
    ...(skipped === undefined ? {} : { offset: Number(skipped) }),
  };
}

/** Fills in the defaults. A request for more than the largest page gets the largest page. */
export function usualPageOf(query: Paging): Page {
  const { limit = LIST_PAGE_DEFAULT, offset = 0 } = pageOf(query);
  return { limit: Math.min(limit, LIST_PAGE_MAX), offset };
}

/**
 * For answers that carry the page's number. Throws invalid_request for a page without items, or one that is too large.
 */
export function numberedPageOf(query: Paging): NumberedPage {
  const { limit = LIST_PAGE_DEFAULT, offset = 0 } = pageOf(query);
  if (limit < 1 || limit > LIST_PAGE_MAX) {
    const names = ["limit", "page_size", "pageSize"] as const;
    const field = names.find((name) => query[name] !== undefined) ?? "limit";
    throw new DbError("invalid_request", `The query parameter "${field}" must be from 1 to ${LIST_PAGE_MAX}.`, {
      field,
    });
  }
  return { limit, offset, page: Math.floor(offset / limit) + 1 };
}
