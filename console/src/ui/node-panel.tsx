/** What a node of a graph holds, in words; and the legend of labels. */
import type { ComponentChildren } from "preact";
import { cellText, plural } from "../lib/format.js";
import { colourNumber } from "./graph-drawing.js";
import { captionOf, type GraphModel, type GraphNode } from "./graph-model.js";

interface LegendProps {
  readonly model: GraphModel;
  /** What an algorithm has put together, in place of labels; `place`: of its colour. */
  readonly groups?: readonly { readonly place: number; readonly label: string; readonly count: number }[] | null;
}

export function Legend({ model, groups }: LegendProps) {
  if (groups != null) {
    return (
      <ul class="graph-legend">
        {groups.map(({ place, label, count }) => (
          <li key={place}>
            <span class={`swatch s${place}`} />
            {label} <span class="muted number">{count}</span>
          </li>
        ))}
      </ul>
    );
  }
  const labels = model.labels();
  const counts = new Map<string, number>();
  for (const { labels: own } of model.nodes) counts.set(own[0] ?? "", (counts.get(own[0] ?? "") ?? 0) + 1);
  return (
    <ul class="graph-legend">
      {labels.map((label) => (
        <li key={label}>
          <span class={`swatch s${colourNumber(labels, label)}`} />
          {label} <span class="muted number">{counts.get(label)}</span>
        </li>
      ))}
    </ul>
  );
}

interface NodePanelProps {
  readonly model: GraphModel;
  readonly node: GraphNode | null;
  readonly onSelect: (node: GraphNode) => void;
  /** What is known beside its properties. */
  readonly facts?: readonly (readonly [name: string, value: string])[];
  readonly children?: ComponentChildren;
}

const LISTED_MAX = 200;

function weightOf({ weight, degree }: GraphNode): number {
  return weight ?? degree;
}

/** Without a node: all of them, by name, which is also the way for those who cannot see the picture. */
export function NodePanel({ model, node, onSelect, facts = [], children }: NodePanelProps) {
  if (node === null) {
    const listed = [...model.nodes].sort((a, b) => weightOf(b) - weightOf(a)).slice(0, LISTED_MAX);
    return (
      <aside class="node-panel" aria-label="Nodes">
        <h2>
          {plural(model.nodes.length, "node")}, {plural(model.edges.length, "relationship")}
        </h2>
        <ul class="node-list">
          {listed.map((each) => (
            <li key={each.id}>
              <button type="button" class="side-entry" onClick={() => onSelect(each)}>
                <span>{captionOf(each)}</span>
                <small>{each.labels.join(", ")}</small>
              </button>
            </li>
          ))}
        </ul>
        {listed.length < model.nodes.length && (
          <p class="muted">The {LISTED_MAX} largest. Choose others in the picture.</p>
        )}
      </aside>
    );
  }
  return (
    <aside class="node-panel" aria-label="The chosen node">
      <h2>{captionOf(node)}</h2>
      <p class="muted">
        {node.labels.join(", ") || "No label"} · id {node.id} · {plural(node.degree, "relationship")} shown
      </p>
      {children !== undefined && <div class="row">{children}</div>}
      <dl class="row-values">
        {[...facts, ...Object.entries(node.properties)].map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="code">{cellText(value)}</dd>
          </div>
        ))}
      </dl>
    </aside>
  );
}
