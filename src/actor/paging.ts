/** Pages of list routes that are asked for by page and pageSize, or by limit and offset. */
import { DbError } from "../protocol/errors.js";
import { LIST_PAGE_DEFAULT, LIST_PAGE_MAX } from "../protocol/limits.js";
import type { Input } from "./validate.js";

export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** From 1. */
  readonly page: number;
}

/** Throws invalid_request for a page without items, or one that is too large. */
export function readPage({ limit, offset, page, pageSize, page_size }: Input["query"]): Page {
  const size = Number(limit ?? pageSize ?? page_size ?? LIST_PAGE_DEFAULT);
  if (size < 1 || size > LIST_PAGE_MAX) {
    const field = limit === undefined ? "pageSize" : "limit";
    throw new DbError("invalid_request", `The query parameter "${field}" must be from 1 to ${LIST_PAGE_MAX}.`, {
      field,
    });
  }
  if (page !== undefined && Number(page) < 1) {
    throw new DbError("invalid_request", 'The query parameter "page" counts from 1.', { field: "page" });
  }
  const skipped = offset === undefined ? (Number(page ?? 1) - 1) * size : Number(offset);
  return { limit: size, offset: skipped, page: Math.floor(skipped / size) + 1 };
}
