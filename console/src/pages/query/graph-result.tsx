/** The nodes and relationships of a result, drawn. */
import { useMemo, useState } from "preact/hooks";
import { plural } from "../../lib/format.js";
import { GraphCanvas } from "../../ui/graph-canvas.js";
import { GraphModel, type GraphNode } from "../../ui/graph-model.js";
import { Legend, NodePanel } from "../../ui/node-panel.js";
import { Empty } from "../../ui/notice.js";
import type { List } from "./run.js";

const ROWS_MAX = 100_000;

export function GraphResult({ rows, count }: { readonly rows: readonly List[]; readonly count: number }) {
  const [selected, setSelected] = useState<GraphNode | null>(null);
  const shown = Math.min(count, ROWS_MAX);
  const model = useMemo(() => {
    const made = new GraphModel();
    for (const row of rows.slice(0, shown)) made.add(row);
    made.join();
    return made;
  }, [rows, shown]);
  if (model.nodes.length === 0) {
    return (
      <Empty icon="graph" title="There are no nodes in this result">
        Return nodes, relationships or paths, such as <code>MATCH p = (a)-[r]-&gt;(b) RETURN p</code>.
      </Empty>
    );
  }
  return (
    <div class="graph-view">
      <GraphCanvas model={model} version={shown} selected={selected} onSelect={setSelected} />
      <Legend model={model} />
      {count > shown && <p class="muted graph-note">Of the first {plural(shown, "row")}.</p>}
      <NodePanel model={model} node={selected} onSelect={setSelected} />
    </div>
  );
}
