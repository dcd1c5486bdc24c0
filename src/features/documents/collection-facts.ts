/** What a collection is like. */

import type { Request } from "../../actor/request.js";
import { describeCollection } from "../../document/collection.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { type IndexLife, indexLife } from "../../session/search-index-care.js";
import { rowsOf } from "../statements/run-alone.js";
import { readsAll } from "../statements/with-definitions.js";
import { findCollection } from "./document-session.js";

/** Its definition, how many documents it has, and how far its indexes are. Throws not_found. */
export async function collectionFacts(request: Request, name: string): Promise<ResponseOf<"collections.get">> {
  const collection = findCollection(request, name);
  const [row] = await rowsOf(request, { sql: `SELECT count(*) FROM ${collection.sqlName}`, params: [] });
  const { partition, number } = request.tenant;
  // Who may not see all documents is not told how many there are.
  const seesAll = readsAll(request, collection.table.id);
  // Search indexes are made in the background; what they find is the same at any time.
  const indexes = collection.indexes.flatMap(({ name, type, search }) => {
    if (search === null) return [];
    const { state, items, waiting } = indexLife(partition.derived, number, search);
    if (!seesAll) return [{ name, type, state: state === "ready" ? state : "building" }];
    return [{ name, type, state, progress: progressOf(state, items, waiting), items, items_waiting: waiting }];
  });
  const record = { ...describeCollection(collection), document_count: Number(row![0]), indexes };
  return { ...record, collection: record };
}

/** 0 to 1: of the vectors those that are linked into the graph. */
function progressOf(state: IndexLife["state"], items: number, waiting: number): number {
  if (state === "ready") return 1;
  return state === "linking" ? Math.floor((100 * (items - waiting)) / Math.max(1, items)) / 100 : 0;
}
