/** A map of a collection of vectors; what a search has found stands out. */
import { useMemo } from "preact/hooks";
import { useGet } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import { Waiting } from "../../ui/notice.js";
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
  const isMarked = useMemo(
    () => (found === undefined || found.size === 0 ? undefined : ([id]: MapRow) => found.has(String(id))),
    [found],
  );
  if (source === null) return <Waiting error={error} />;
  return <VectorMap source={source} onOpen={(rows) => openRows(name, rows)} {...(isMarked && { isMarked })} />;
}

function openRows(name: string, rows: readonly MapRow[]): void {
  const ids = rows.slice(0, IDS_MAX).map(([id]) => `'${String(id).replaceAll("'", "''")}'`);
  const sql = `SELECT id, metadata\nFROM ${quotedName(name)}\nWHERE id IN (${ids.join(", ")})`;
  goTo(["query"], { sql, title: name });
}
