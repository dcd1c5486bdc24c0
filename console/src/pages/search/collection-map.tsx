/** Maps of collections, of vectors and of documents; what a search has found stands out. */
import { useMemo } from "preact/hooks";
import { catalog, loadCatalog } from "../../lib/catalog.js";
import { useGet, useLoad } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import { client } from "../../lib/session.js";
import { useStore } from "../../lib/store.js";
import { Busy } from "../../ui/button.js";
import { Empty, Waiting } from "../../ui/notice.js";
import { quotedName } from "../query/sidebar.js";
import type { MapRow } from "./map-colours.js";
import type { FindNear, Neighbour } from "./map-walk.js";
import { type MapSource, VectorMap } from "./vector-map.js";

interface CollectionMapProps {
  readonly name: string;
  /** Ids of vectors that stand out. */
  readonly found?: ReadonlySet<string>;
}

/** As the server bounds a map. */
const POINTS_MAX = 100_000;
const NUMBERS_MAX = 64_000_000;
/** A statement with more ids is too long to read. */
const IDS_MAX = 500;

export function CollectionMap({ name, found }: CollectionMapProps) {
  const { data, error } = useGet<{ readonly dimensions: number; readonly metric: string }>(
    `/v1/vectors/collections/${encodeURIComponent(name)}`,
  );
  const source = useMemo<MapSource | null>(() => {
    if (data === undefined) return null;
    const maxPoints = Math.min(POINTS_MAX, Math.floor(NUMBERS_MAX / data.dimensions));
    return { sql: `SELECT id, metadata, vector FROM ${quotedName(name)}`, metric: data.metric, maxPoints };
  }, [name, data?.dimensions, data?.metric]);
  const isMarked = useMarked(found, 0);
  const near = useMemo(() => nearIn(name, "vector", 0, data?.metric), [name, data?.metric]);
  if (source === null) return <Waiting error={error} />;
  const open = (rows: readonly MapRow[]): void => openRows(name, rows);
  return <VectorMap source={source} near={near} onOpen={open} {...(isMarked && { isMarked })} />;
}

const OPERATORS: Readonly<Record<string, string>> = { cosine: "<=>", l2: "<->", dot: "<#>", l1: "<+>" };
const NEAR_MAX = 12;

/** The vector goes back to the server as a parameter, so that the statement uses the index. */
function nearIn(table: string, column: string, idPlace: number, metric = "cosine"): FindNear {
  const [from, vector] = [quotedName(table), quotedName(column)];
  const distance = `${vector} ${OPERATORS[metric] ?? "<=>"} $1::vector`;
  return {
    idOf: (row) => String(row[idPlace]),
    find: async (id, signal) => {
      const own = `SELECT ${vector}::text AS own FROM ${from} WHERE id = $1`;
      const [found] = await client().query<{ own: string | null }>(own, [id], { signal });
      if (found?.own == null) return [];
      const nearest = `SELECT id::text AS id, (${distance})::float8 AS distance FROM ${from} ORDER BY ${distance} LIMIT ${NEAR_MAX + 1}`;
      return client().query<Neighbour>(nearest, [found.own], { signal });
    },
  };
}

function openRows(name: string, rows: readonly MapRow[]): void {
  const ids = rows.slice(0, IDS_MAX).map(([id]) => `'${String(id).replaceAll("'", "''")}'`);
  const sql = `SELECT id, metadata\nFROM ${quotedName(name)}\nWHERE id IN (${ids.join(", ")})`;
  goTo(["query"], { sql, title: name });
}

/** A map of a collection's documents, by the first of their embedded fields. */
export function DocumentsMap({ name, found }: CollectionMapProps) {
  const { objects } = useStore(catalog);
  const columns = objects?.find((one) => one.schema === "public" && one.name === name)?.columns;
  // The collection may have been made since the catalog was loaded.
  const isUnknown = objects !== null && columns === undefined;
  const { isLoading } = useLoad(async () => (isUnknown ? loadCatalog() : undefined), [name, isUnknown]);
  const source = useMemo(() => {
    const vector = columns?.find(({ type }) => type.startsWith("vector"));
    if (columns === undefined || vector === undefined) return null;
    const shown = columns.filter(({ name: column, type }) => !type.startsWith("vector") && column !== "doc");
    const names = [...shown, vector].map((column) => quotedName(column.name));
    const sql = `SELECT ${names.join(", ")} FROM ${quotedName(name)}`;
    return { sql, vector: vector.name, idPlace: shown.findIndex((column) => column.name === "id") };
  }, [name, columns]);
  const idPlace = source === null ? 0 : source.idPlace;
  const isMarked = useMarked(found, idPlace);
  const near = useMemo(() => (source === null ? null : nearIn(name, source.vector, source.idPlace)), [name, source]);
  if (objects === null || (isUnknown && isLoading)) return <Busy />;
  if (source === null) return <Empty icon="vector" title="No field of these documents is embedded" />;
  return <VectorMap source={source} {...(near && { near })} {...(isMarked && { isMarked })} />;
}

function useMarked(found: ReadonlySet<string> | undefined, place: number): ((row: MapRow) => boolean) | undefined {
  return useMemo(
    () => (found === undefined || found.size === 0 ? undefined : (row: MapRow) => found.has(String(row[place]))),
    [found, place],
  );
}
