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
import { GraphMenu, type GraphWork, GraphWorkDialog } from "./graph-menu.js";
import { type GraphPart, GraphReader } from "./graph-reader.js";
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
  const isNamed = data?.graphs.some(({ name }) => name === query.graph) === true;
  if (data === undefined || (!isNamed && data.graphs.every(({ node_count: count }) => count === 0))) {
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
  return <GraphWalk key={name} name={name} names={names} query={query} />;
}

interface GraphWalkProps {
  readonly name: string;
  readonly names: readonly string[];
  readonly query: PageProps["query"];
}

const LIMIT = "1000";

function GraphWalk({ name, names, query }: GraphWalkProps) {
  const reader = useRef(new GraphReader(name)).current;
  const labels = useLoad((signal) => reader.labels(signal), [name]);
  const [model, setModel] = useState(() => new GraphModel());
  const [version, setVersion] = useState(0);
  const [label, setLabel] = useState(query.label ?? "");
  const [limit, setLimit] = useState(LIMITS.some(([each]) => each === query.most) ? query.most! : LIMIT);
  const [filter, setFilter] = useState(query.where ?? "");
  const [selected, setSelected] = useState<GraphNode | null>(null);
  const [start, setStart] = useState<GraphNode | null>(null);
  const [marked, setMarked] = useState<ReadonlySet<number>>(new Set());
  const [isBusy, setBusy] = useState(false);
  const [work, setWork] = useState<GraphWork | null>(null);
  const [leftOut, setLeftOut] = useState("");
  const style = useMeasures(reader, model, version);

  const grow = async (part: Promise<GraphPart>, into = model): Promise<readonly unknown[]> => {
    let found: readonly unknown[] = [];
    setBusy(true);
    await attempt(async () => {
      const { values, leftOut: less } = await part;
      found = values;
      into.add(found);
      into.join();
      if (less !== "") setLeftOut(less);
      setVersion((now) => now + 1);
    });
    setBusy(false);
    return found;
  };
  // What is shown, and not what has been typed since.
  const shown = useRef<Readonly<Record<string, string | undefined>>>({});
  const select = (node: GraphNode | null): void => {
    setSelected(node);
    replacePlace(["graph"], { ...shown.current, node: node === null ? undefined : String(node.id) });
  };
  /** With the node of that id chosen, which may not be among the first ones. */
  const begin = async (id?: number): Promise<void> => {
    const made = new GraphModel();
    setModel(made);
    setMarked(new Set());
    setLeftOut("");
    shown.current = addressOf(name, label, filter.trim(), limit);
    select(null);
    await grow(reader.beginning(label, filter, Number(limit)), made);
    if (id === undefined) return;
    if (made.node(id) === undefined) await grow(reader.neighbours(id), made);
    select(made.node(id) ?? null);
  };
  useEffect(() => {
    const id = Number(query.node ?? Number.NaN);
    void begin(Number.isInteger(id) ? id : undefined);
  }, []);
  const findWay = async (to: GraphNode): Promise<void> => {
    const found = await grow(reader.way(start!.id, to.id));
    const path = found[0] as { readonly nodes: readonly { readonly id: number }[] } | undefined;
    setMarked(new Set(path?.nodes.map(({ id }) => id)));
    setStart(null);
  };
  return (
    <div class="graph-page">
      <h1 class="unseen">Graph</h1>
      <Form class="graph-bar" onSubmit={() => void begin()}>
        <Choices
          {...{ name, names, label, filter, limit }}
          labels={labels.data ?? []}
          onLabel={setLabel}
          onFilter={setFilter}
          onLimit={setLimit}
        />
        <Button kind="primary" type="submit" disabled={isBusy}>
          Show
        </Button>
        <StyleSelects style={style} />
        <GraphMenu name={name} onChoose={setWork} />
        {(isBusy || style.isBusy) && <span class="muted">Loading …</span>}
        <span class="muted left-out" role="status">
          {leftOut}
        </span>
        <Marks start={start} marked={marked} onClear={() => setMarked(new Set())} />
      </Form>
      {work !== null && (
        <GraphWorkDialog {...{ name, work }} onClose={() => setWork(null)} onChanged={() => void begin()} />
      )}
      <div class="graph-view">
        <GraphCanvas
          model={model}
          version={version}
          selected={selected}
          onSelect={select}
          onExpand={(node) => void grow(reader.neighbours(node.id))}
          marked={marked}
          styled={style.found}
        />
        {version > 0 && !isBusy && model.nodes.length === 0 && <NoNodes isAll={label === "" && filter.trim() === ""} />}
        <Legend model={model} groups={style.groups} />
        <NodePanel model={model} node={selected} onSelect={select} facts={factsOf(selected, style)}>
          {selected !== null && (
            <NodeActions
              {...{ node: selected, start, isBusy, onStart: setStart }}
              onExpand={() => void grow(reader.neighbours(selected.id))}
              onWay={() => void findWay(selected)}
              onClose={() => select(null)}
            />
          )}
        </NodePanel>
      </div>
    </div>
  );
}

/** What is as usual is not said. */
function addressOf(graph: string, label: string, where: string, most: string) {
  const told = (value: string, usual: string) => (value === usual ? undefined : value);
  return { graph, label: told(label, ""), where: told(where, ""), most: told(most, LIMIT) };
}

interface ChoicesProps {
  readonly name: string;
  readonly names: readonly string[];
  readonly label: string;
  readonly labels: readonly string[];
  readonly filter: string;
  readonly limit: string;
  readonly onLabel: (label: string) => void;
  readonly onFilter: (filter: string) => void;
  readonly onLimit: (limit: string) => void;
}

/** What is to be shown. */
function Choices({ name, names, label, labels, filter, limit, onLabel, onFilter, onLimit }: ChoicesProps) {
  return (
    <>
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
        options={[["", "All labels"] as const, ...labels.map((each) => [each, each] as const)]}
        onChange={onLabel}
      />
      <TextField
        label="Condition over n"
        isBare
        placeholder="Condition, such as n.name STARTS WITH 'A'"
        value={filter}
        onInput={onFilter}
        isCode
      />
      <Select label="At most" isBare value={limit} options={LIMITS} onChange={onLimit} />
    </>
  );
}

/** `isAll`: nothing was left out of what was asked for. */
function NoNodes({ isAll }: { readonly isAll: boolean }) {
  return (
    <div class="graph-none">
      <Empty icon="graph" title="There are no such nodes">
        {isAll
          ? "The menu at the top makes some, by a statement of Cypher."
          : "Another label or condition may find some."}
      </Empty>
    </div>
  );
}

interface MarksProps {
  readonly start: GraphNode | null;
  readonly marked: ReadonlySet<number>;
  readonly onClear: () => void;
}

/** Where a way begins, and how many nodes the one that was found has. */
function Marks({ start, marked, onClear }: MarksProps) {
  return (
    <>
      {start !== null && <Badge tone="accent">From {captionOf(start)}: choose the other end</Badge>}
      {marked.size > 0 && (
        <>
          <Badge tone="accent">{plural(marked.size, "node")} on the way</Badge>
          <Button kind="quiet" onClick={onClear}>
            Clear
          </Button>
        </>
      )}
    </>
  );
}

interface NodeActionsProps {
  readonly node: GraphNode;
  readonly start: GraphNode | null;
  readonly isBusy: boolean;
  readonly onStart: (node: GraphNode) => void;
  readonly onExpand: () => void;
  readonly onWay: () => void;
  readonly onClose: () => void;
}

function NodeActions({ node, start, isBusy, onStart, onExpand, onWay, onClose }: NodeActionsProps) {
  return (
    <>
      <Button icon="plus" disabled={isBusy} onClick={onExpand}>
        Expand
      </Button>
      {start === null || start === node ? (
        <Button onClick={() => onStart(node)}>Way from here</Button>
      ) : (
        <Button kind="primary" disabled={isBusy} onClick={onWay}>
          Way to here
        </Button>
      )}
      <Button kind="quiet" onClick={onClose}>
        All nodes
      </Button>
    </>
  );
}
