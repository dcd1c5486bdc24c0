/** A graph to walk through: begin with a label, expand nodes, find the way between two, and see what is central. */
import { useEffect, useRef, useState } from "preact/hooks";
import { plural } from "../../lib/format.js";
import { useGet, useLoad } from "../../lib/load.js";
import { replacePlace } from "../../lib/router.js";
import type { PageProps } from "../../shell/pages.js";
import { Badge, Button } from "../../ui/button.js";
import { Select, TextField } from "../../ui/field.js";
import { Form } from "../../ui/form.js";
import { GraphCanvas } from "../../ui/graph-canvas.js";
import { captionOf, GraphModel, type GraphNode } from "../../ui/graph-model.js";
import { Legend, NodePanel } from "../../ui/node-panel.js";
import { Empty, Waiting } from "../../ui/notice.js";
import { Page } from "../../ui/panel.js";
import { attempt } from "../../ui/toast.js";
import { GraphReader } from "./graph-reader.js";
import { factsOf, StyleSelects, useMeasures } from "./use-measures.js";

interface GraphFacts {
  readonly name: string;
  readonly node_count: number;
}

const LIMITS: readonly (readonly [string, string])[] = [
  ["100", "100 relationships"],
  ["1000", "1,000 relationships"],
  ["10000", "10,000 relationships"],
  ["100000", "100,000 relationships"],
];

export function GraphPage({ query }: PageProps) {
  const { data, error } = useGet<{ graphs: readonly GraphFacts[] }>("/v1/graph/graphs");
  if (data === undefined || data.graphs.every(({ node_count: count }) => count === 0)) {
    return (
      <Page title="Graph">
        {data === undefined ? (
          <Waiting error={error} />
        ) : (
          <Empty icon="graph" title="There are no nodes yet">
            Make some in a query of Cypher, such as <code>CREATE (:Person {"{name: 'Ada'}"})</code>.
          </Empty>
        )}
      </Page>
    );
  }
  const names = data.graphs.map(({ name }) => name);
  const name = names.includes(query.graph ?? "") ? query.graph! : names[0]!;
  return <GraphWalk key={name} name={name} names={names} label={query.label ?? ""} />;
}

interface GraphWalkProps {
  readonly name: string;
  readonly names: readonly string[];
  readonly label: string;
}

function GraphWalk({ name, names, label: first }: GraphWalkProps) {
  const reader = useRef(new GraphReader(name)).current;
  const labels = useLoad((signal) => reader.labels(signal), [name]);
  const [model, setModel] = useState(() => new GraphModel());
  const [version, setVersion] = useState(0);
  const [label, setLabel] = useState(first);
  const [limit, setLimit] = useState("1000");
  const [filter, setFilter] = useState("");
  const [selected, setSelected] = useState<GraphNode | null>(null);
  const [start, setStart] = useState<GraphNode | null>(null);
  const [marked, setMarked] = useState<ReadonlySet<number>>(new Set());
  const [isBusy, setBusy] = useState(false);
  const style = useMeasures(reader, model, version);

  const grow = async (values: Promise<readonly unknown[]>, into = model): Promise<readonly unknown[]> => {
    let found: readonly unknown[] = [];
    setBusy(true);
    await attempt(async () => {
      found = await values;
      into.add(found);
      into.join();
      setVersion((now) => now + 1);
    });
    setBusy(false);
    return found;
  };
  const begin = (): void => {
    const made = new GraphModel();
    setModel(made);
    setSelected(null);
    setMarked(new Set());
    replacePlace(["graph"], { graph: name, label: label === "" ? undefined : label });
    void grow(reader.beginning(label, filter, Number(limit)), made);
  };
  useEffect(begin, []);
  const findWay = async (to: GraphNode): Promise<void> => {
    const found = await grow(reader.way(start!.id, to.id));
    const path = found[0] as { readonly nodes: readonly { readonly id: number }[] } | undefined;
    setMarked(new Set(path?.nodes.map(({ id }) => id)));
    setStart(null);
  };
  return (
    <div class="graph-page">
      <h1 class="unseen">Graph</h1>
      <Form class="graph-bar" onSubmit={() => begin()}>
        {names.length > 1 && (
          <Select
            label="Graph"
            isBare
            value={name}
            options={names}
            onChange={(chosen) => replacePlace(["graph"], { graph: chosen })}
          />
        )}
        <Select
          label="Label"
          isBare
          value={label}
          options={[["", "All labels"] as const, ...(labels.data ?? []).map((each) => [each, each] as const)]}
          onChange={setLabel}
        />
        <TextField
          label="Condition over n"
          isBare
          placeholder="Condition, such as n.name STARTS WITH 'A'"
          value={filter}
          onInput={setFilter}
          isCode
        />
        <Select label="At most" isBare value={limit} options={LIMITS} onChange={setLimit} />
        <Button kind="primary" type="submit" disabled={isBusy}>
          Show
        </Button>
        <StyleSelects style={style} />
        {(isBusy || style.isBusy) && <span class="muted">Loading …</span>}
        {start !== null && <Badge tone="accent">From {captionOf(start)}: choose the other end</Badge>}
        {marked.size > 0 && (
          <>
            <Badge tone="accent">{plural(marked.size, "node")} on the way</Badge>
            <Button kind="quiet" onClick={() => setMarked(new Set())}>
              Clear
            </Button>
          </>
        )}
      </Form>
      <div class="graph-view">
        <GraphCanvas
          model={model}
          version={version}
          selected={selected}
          onSelect={setSelected}
          onExpand={(node) => void grow(reader.neighbours(node.id))}
          marked={marked}
          styled={style.found}
        />
        <Legend model={model} groups={style.groups} />
        <NodePanel model={model} node={selected} onSelect={setSelected} facts={factsOf(selected, style)}>
          {selected !== null && (
            <>
              <Button icon="plus" disabled={isBusy} onClick={() => void grow(reader.neighbours(selected.id))}>
                Expand
              </Button>
              {start === null || start === selected ? (
                <Button onClick={() => setStart(selected)}>Way from here</Button>
              ) : (
                <Button kind="primary" disabled={isBusy} onClick={() => void findWay(selected)}>
                  Way to here
                </Button>
              )}
              <Button kind="quiet" onClick={() => setSelected(null)}>
                All nodes
              </Button>
            </>
          )}
        </NodePanel>
      </div>
    </div>
  );
}
