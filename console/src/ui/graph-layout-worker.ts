/** Lays out large graphs beside the page, which goes on answering. Started by graph-layout.ts. */
import type { Simulation, SimulationLinkDatum, SimulationNodeDatum } from "d3-force";
import { forcesOf } from "./graph-forces.js";
import { startPlaces } from "./graph-start.js";

/** Numbers of nodes are their places in the arrays. */
export type LayoutOrder =
  | {
      readonly kind: "begin";
      /** NaN where a node has no place yet. */
      readonly x: Float32Array<ArrayBuffer>;
      readonly y: Float32Array<ArrayBuffer>;
      /** Two for each relationship. */
      readonly ends: Uint32Array<ArrayBuffer>;
    }
  | { readonly kind: "hold"; readonly node: number; readonly place: { readonly x: number; readonly y: number } | null };

export interface LayoutPlaces {
  readonly x: Float32Array<ArrayBuffer>;
  readonly y: Float32Array<ArrayBuffer>;
}

type Link = SimulationLinkDatum<SimulationNodeDatum>;

const TELL_MS = 80;
let simulation: Simulation<SimulationNodeDatum, Link> | null = null;
let isRunning = false;
let toldAt = 0;

self.onmessage = ({ data }: MessageEvent<LayoutOrder>) => {
  if (data.kind === "begin") begin(data);
  else hold(data);
};

function begin({ x, y, ends }: Extract<LayoutOrder, { kind: "begin" }>): void {
  const isNew = x.filter((left) => Number.isNaN(left)).length > x.length / 2;
  const start = isNew ? startPlaces(x.length, ends) : { x, y };
  const nodes = Array.from(
    start.x,
    (left, i): SimulationNodeDatum => (Number.isNaN(left) ? {} : { x: left, y: start.y[i]! }),
  );
  const links: Link[] = [];
  for (let i = 0; i < ends.length; i += 2) links.push({ source: ends[i]!, target: ends[i + 1]! });
  simulation = forcesOf(nodes, links).stop();
  tell();
  go();
}

function hold({ node, place }: Extract<LayoutOrder, { kind: "hold" }>): void {
  const found = simulation?.nodes()[node];
  if (found === undefined) return;
  [found.fx, found.fy] = [place?.x ?? null, place?.y ?? null];
  if (place === null) return;
  simulation!.alpha(Math.max(simulation!.alpha(), 0.1));
  go();
}

function go(): void {
  if (isRunning) return;
  isRunning = true;
  setTimeout(step);
}

/** One at a time, so that orders are heard in between. */
function step(): void {
  simulation!.tick();
  const isDone = simulation!.alpha() < simulation!.alphaMin();
  if (isDone || performance.now() - toldAt > TELL_MS) tell();
  isRunning = !isDone;
  if (isRunning) setTimeout(step);
}

function tell(): void {
  toldAt = performance.now();
  const nodes = simulation!.nodes();
  const x = Float32Array.from(nodes, (node) => node.x!);
  const y = Float32Array.from(nodes, (node) => node.y!);
  self.postMessage({ x, y } satisfies LayoutPlaces, { transfer: [x.buffer, y.buffer] });
}
