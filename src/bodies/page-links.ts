/**
 * The Link header of a page of a list (RFC 8288), from what the endpoint declares, the request's query and the answer.
 * Each target is a query alone: a reference that clients resolve against the URL that they asked, whatever its host,
 * prefix and version. Called by the actor for each answer of an endpoint with `pages`.
 */
import type { PagesSpec } from "../protocol/endpoint.js";
import { LIST_PAGE_DEFAULT } from "../protocol/limits.js";
import { pageOf } from "./paging.js";

/** The most that the schemas of the query parameters take. */
const OFFSET_MAX = 999_999_999;
const NUMBER_MAX = 9_999_999;

type Relation = "first" | "prev" | "next" | "last";

/** The header's line, of an answer with that payload; "": there are no pages to name. */
export function pageLinks(pages: PagesSpec, query: string, payload: unknown): string {
  const plain = payload as Readonly<Record<string, unknown>>;
  const asked = new URLSearchParams(query);
  const links = isAfter(pages, asked) ? linksAfter(pages.after!, asked, plain) : linksAround(pages, asked, plain);
  return links.length === 0 ? "" : `Link: ${links.join(", ")}`;
}

/** The list goes on after what the page before said: where it can do no other, or the client has begun so. */
function isAfter({ after, total }: PagesSpec, asked: URLSearchParams): boolean {
  return after !== undefined && (total === undefined || asked.has(after.parameter));
}

function linksAfter(
  { parameter, member }: NonNullable<PagesSpec["after"]>,
  asked: URLSearchParams,
  plain: Readonly<Record<string, unknown>>,
): string[] {
  const next = plain[member];
  const others = { offset: null, page: null };
  const links = [link("first", asked, { ...others, [parameter]: null })];
  if (next !== null) links.push(link("next", asked, { ...others, [parameter]: String(next) }));
  return links;
}

function linksAround(pages: PagesSpec, asked: URLSearchParams, plain: Readonly<Record<string, unknown>>): string[] {
  const wanted = pageOf(Object.fromEntries(asked));
  const limit = Math.min(wanted.limit ?? pages.usual ?? LIST_PAGE_DEFAULT, pages.most ?? Number.MAX_SAFE_INTEGER);
  if (limit < 1) return [];
  const offset = wanted.offset ?? 0;
  const items = (pages.items === null ? plain : plain[pages.items]) as unknown as readonly unknown[];
  const total = pages.total === undefined ? null : Number(plain[pages.total]);
  const isNumbered = asked.has("page") && !asked.has("offset");
  const last = total === null ? null : Math.max(0, Math.ceil(total / limit) - 1) * limit;
  const targets: [Relation, number | null][] = [
    ["first", 0],
    ["prev", offset === 0 ? null : Math.min(Math.max(0, offset - limit), last ?? offset)],
    ["next", (total === null ? items.length === limit : offset + limit < total) ? offset + limit : null],
    ["last", last],
  ];
  return targets.flatMap(([relation, at]) => {
    if (at === null || at > OFFSET_MAX) return [];
    if (!isNumbered) return [link(relation, asked, { offset: String(at) })];
    const page = at / limit + 1;
    return page > NUMBER_MAX ? [] : [link(relation, asked, { page: String(page) })];
  });
}

/** What the client asked, with these parameters in place of its own; null: without. */
function link(relation: Relation, asked: URLSearchParams, changes: Readonly<Record<string, string | null>>): string {
  const target = new URLSearchParams(asked);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) target.delete(name);
    else target.set(name, value);
  }
  return `<?${target}>; rel="${relation}"`;
}
