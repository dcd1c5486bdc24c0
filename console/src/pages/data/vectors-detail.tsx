/** A collection of vectors: its facts, its first entries, and a map of it. */
import { useState } from "preact/hooks";
import { countText } from "../../lib/format.js";
import { lazy } from "../../lib/lazy.js";
import { useEvery, useGet, useLoad, useReturn } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import { client } from "../../lib/session.js";
import { Badge, Button, ReloadButton } from "../../ui/button.js";
import { DataGrid, type GridRow } from "../../ui/data-grid.js";
import { Failure, Waiting } from "../../ui/notice.js";
import { Facts } from "../../ui/panel.js";
import { ValueDialog } from "../../ui/value-dialog.js";
import { quotedName } from "../query/sidebar.js";
import { Thing, useTab } from "./thing.js";

const CollectionMap = lazy(async () => (await import("../search/collection-map.js")).CollectionMap);

const TABS = [
  { id: "rows" as const, label: "Vectors" },
  { id: "map" as const, label: "Map" },
];

interface VectorFacts {
  readonly dimensions: number;
  readonly vector_count: number;
  readonly metric: string;
  readonly index_type: string;
  readonly index: { readonly state: string };
  readonly m: number;
  readonly ef_construction: number;
  readonly quantization: string;
}

const SHOWN = 500;
/** How often the facts are read while the index is being built. */
const EVERY_MS = 2_000;

interface VectorsDetailProps {
  readonly name: string;
  readonly onChanged: () => void;
}

export function VectorsDetail({ name, onChanged }: VectorsDetailProps) {
  const [shown, setShown] = useTab(TABS);
  const path = `/v1/vectors/collections/${encodeURIComponent(name)}`;
  const facts = useGet<VectorFacts>(path);
  const rows = useLoad(
    (signal) =>
      client().query(`SELECT id, metadata FROM ${quotedName(name)} ORDER BY id`, [], { signal, maxRows: SHOWN }),
    [name],
  );
  // A map is made anew when it is asked for: that takes a while.
  const [map, setMap] = useState(0);
  const [open, setOpen] = useState<{ row: GridRow; column: number } | null>(null);
  const again = (): void => {
    facts.again();
    rows.again();
  };
  useReturn(again);
  const { data } = facts;
  useEvery(EVERY_MS, () => {
    if (data !== undefined && data.index.state !== "ready" && data.index.state !== "absent") facts.renew();
  });
  if (data === undefined) return <Waiting error={facts.error} />;
  return (
    <Thing
      name={name}
      tabs={TABS}
      shown={shown}
      onShow={setShown}
      action={
        <>
          <ReloadButton
            onClick={() => {
              again();
              setMap((count) => count + 1);
            }}
          />
          <Button icon="search" onClick={() => goTo(["search"], { vectors: name })}>
            Search
          </Button>
        </>
      }
      drop={() => client().request("DELETE", path)}
      loss="Its vectors and their index go with it."
      onDropped={onChanged}
    >
      <Failure error={facts.error} />
      <div class="thing-tools">
        <Facts
          facts={[
            ["Vectors", countText(data.vector_count)],
            ["Dimensions", countText(data.dimensions)],
            ["Metric", data.metric],
            ["Index", `${data.index_type}, m ${data.m}, ef ${data.ef_construction}`],
            ["Stored as", data.quantization === "none" ? "32-bit floats" : data.quantization],
            ["State", <Badge key="state">{data.index.state === "absent" ? "no index yet" : data.index.state}</Badge>],
          ]}
        />
      </div>
      {shown === "map" ? (
        <CollectionMap key={map} name={name} />
      ) : (
        <>
          <Failure error={rows.error} />
          <div class="thing-grid">
            {rows.data !== undefined && (
              <DataGrid
                label="Vectors"
                columns={rows.data.columns}
                rows={rows.data.lists}
                none="There are no vectors."
                onOpen={(row, column) => setOpen({ row, column })}
              />
            )}
            {rows.data !== undefined && open !== null && (
              <ValueDialog columns={rows.data.columns} {...open} onClose={() => setOpen(null)} />
            )}
          </div>
        </>
      )}
    </Thing>
  );
}
