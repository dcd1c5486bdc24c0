/** A collection of vectors: its facts, its first entries, and a map of it. */
import { countText } from "../../lib/format.js";
import { lazy } from "../../lib/lazy.js";
import { useGet, useLoad } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { DataGrid } from "../../ui/data-grid.js";
import { Failure, Waiting } from "../../ui/notice.js";
import { Facts } from "../../ui/panel.js";
import { Tabs } from "../../ui/tabs.js";
import { quotedName } from "../query/sidebar.js";
import { useTab } from "./thing.js";

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

export function VectorsDetail({ name }: { readonly name: string }) {
  const [shown, setShown] = useTab(TABS);
  const path = `/v1/vectors/collections/${encodeURIComponent(name)}`;
  const { data, error } = useGet<VectorFacts>(path);
  const rows = useLoad(
    (signal) =>
      client().query(`SELECT id, metadata FROM ${quotedName(name)} ORDER BY id`, [], { signal, maxRows: SHOWN }),
    [name],
  );
  if (data === undefined) return <Waiting error={error} />;
  return (
    <div class="thing">
      <header class="thing-head">
        <h2>{name}</h2>
        <Tabs label={`About ${name}`} tabs={TABS} current={shown} onChange={setShown} />
        <span class="spacer" />
        <Button icon="search" onClick={() => goTo(["search"], { vectors: name })}>
          Search
        </Button>
      </header>
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
        <CollectionMap name={name} />
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
              />
            )}
          </div>
        </>
      )}
    </div>
  );
}
