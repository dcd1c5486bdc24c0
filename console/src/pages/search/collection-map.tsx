/** Maps of collections, of vectors and of documents; what a search has found stands out. */
import { useMemo } from "preact/hooks";
import { catalog } from "../../lib/catalog.js";
import { useGet } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import { useStore } from "../../lib/store.js";
import { Busy } from "../../ui/button.js";
import { Empty, Waiting } from "../../ui/notice.js";
import { quotedName } from "../query/sidebar.js";
import type { MapRow } from "./map-colours.js";
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
  if (source === null) return <Waiting error={error} />;
  return <VectorMap source={source} onOpen={(rows) => openRows(name, rows)} {...(isMarked && { isMarked })} />;
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
  const source = useMemo<MapSource | null>(() => {
    const vector = columns?.find(({ type }) => type.startsWith("vector"));
    if (columns === undefined || vector === undefined) return null;
    const shown = columns.filter(({ name: column, type }) => !type.startsWith("vector") && column !== "doc");
    const names = [...shown, vector].map((column) => quotedName(column.name));
    return { sql: `SELECT ${names.join(", ")} FROM ${quotedName(name)}` };
  }, [name, columns]);
  const isMarked = useMarked(found, columns?.findIndex(({ name: column }) => column === "id") ?? 0);
  if (objects === null) return <Busy />;
  if (source === null) return <Empty icon="vector" title="No field of these documents is embedded" />;
  return <VectorMap source={source} {...(isMarked && { isMarked })} />;
}

function useMarked(found: ReadonlySet<string> | undefined, place: number): ((row: MapRow) => boolean) | undefined {
  return useMemo(
    () => (found === undefined || found.size === 0 ? undefined : (row: MapRow) => found.has(String(row[place]))),
    [found, place],
  );
}
