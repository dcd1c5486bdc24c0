/** A graph to walk through: begin with a label, expand nodes, find the way between two, and see what is central. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { measureText, plural } from "../../lib/format.js";
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
import { attempt } from "../../ui/toast.js";
import { applyGroups, applyWeights, GROUPINGS, type Group, type Measures, WEIGHTS } from "./graph-measures.js";
import { GraphReader } from "./graph-reader.js";

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

const COLOURS: readonly (readonly [string, string])[] = [["", "Labels"], ...GROUPINGS.map(optionOf)];
const SIZES: readonly (readonly [string, string])[] = [["", "Relationships shown"], ...WEIGHTS.map(optionOf)];

function optionOf({ name, label }: { readonly name: string; readonly label: string }): readonly [string, string] {
  return [name, label];
}

export function GraphPage({ query }: PageProps) {
  const { data, error } = useGet<{ graphs: readonly GraphFacts[] }>("/v1/graph/graphs");
  if (data === undefined) return <Waiting error={error} />;
  if (data.graphs.every(({ node_count: count }) => count === 0)) {
    return (
      <Empty icon="graph" title="There are no nodes yet">
        Make some in a query of Cypher, such as <code>CREATE (:Person {"{name: 'Ada'}"})</code>.
      </Empty>
    );
  }
  const names = data.graphs.map(({ name }) => name);
  const name = names.includes(query.graph ?? "") ? query.graph! : names[0]!;
  return <GraphWalk key={name} name={name} names={names} label={query.label ?? ""} />;
}

/** What algorithms have found of the whole graph; null: none was asked. */
interface Found {
  readonly groups: Measures | null;
  readonly weights: Measures | null;
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
  const [colour, setColour] = useState("");
  const [size, setSize] = useState("");
  const [measures, setMeasures] = useState<Found>({ groups: null, weights: null });
  const groups = useMemo<readonly Group[]>(
    () => applyGroups(model.nodes, measures.groups, colour === "kCore"),
    [model, version, measures],
  );
  useMemo(() => applyWeights(model.nodes, measures.weights), [model, version, measures]);
  const measure = async (kind: keyof Found, name: string): Promise<void> => {
    if (kind === "groups") setColour(name);
    else setSize(name);
    const algorithm = (kind === "groups" ? GROUPINGS : WEIGHTS).find((one) => one.name === name);
    setBusy(true);
    await attempt(async () => {
      const found = algorithm === undefined ? null : await reader.measures(algorithm.name, algorithm.column);
      setMeasures((before) => ({ ...before, [kind]: found }));
    });
    setBusy(false);
  };

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
        <Select
          label="Colour by"
          isBeside
          value={colour}
          options={COLOURS}
          onChange={(name) => void measure("groups", name)}
        />
        <Select
          label="Size by"
          isBeside
          value={size}
          options={SIZES}
          onChange={(name) => void measure("weights", name)}
        />
        {isBusy && <span class="muted">Loading …</span>}
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
          styled={measures}
        />
        <Legend model={model} groups={measures.groups === null ? null : groups} />
        <NodePanel
          model={model}
          node={selected}
          onSelect={setSelected}
          facts={factsOf(selected, measures, colour, size)}
        >
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

/** What algorithms say of a node. */
function factsOf(
  node: GraphNode | null,
  { groups, weights }: Found,
  colour: string,
  size: string,
): readonly (readonly [string, string])[] {
  const facts: (readonly [string, string])[] = [];
  const add = (found: Measures | null, algorithms: typeof GROUPINGS, name: string): void => {
    const value = node === null ? undefined : found?.get(node.id);
    const algorithm = algorithms.find((one) => one.name === name);
    if (value !== undefined && algorithm !== undefined) facts.push([algorithm.label, measureText(value)]);
  };
  add(groups, GROUPINGS, colour);
  add(weights, WEIGHTS, size);
  return facts;
}
