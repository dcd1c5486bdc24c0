/** Draws nodes, relationships and their names on a canvas. Used by graph-canvas.tsx. */
import { resolved } from "./chart-drawing.js";
import { RADIUS_MAX, radiusOf } from "./graph-forces.js";
import type { GraphPlaces } from "./graph-layout.js";
import { captionOf, type GraphEdge, type GraphModel, type GraphNode } from "./graph-model.js";

/** Where the graph's middle stands on the canvas, and how large. */
export interface GraphView {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
  readonly width: number;
  readonly height: number;
}

export interface GraphColours {
  readonly of: (node: GraphNode) => string;
  readonly line: string;
  readonly text: string;
  readonly muted: string;
  readonly ground: string;
  readonly accent: string;
  readonly font: string;
}

export interface Shown {
  readonly selected: GraphNode | null;
  readonly hovered: GraphNode | null;
  readonly marked?: ReadonlySet<number> | undefined;
}

const NAMED_MAX = 400;
/** Of graphs with more nodes. */
const NAMES_FROM_SCALE = 0.7;
const ARROWS_MAX = 2_000;
/** With more relationships, only those that stand out have their type beside them. */
const TYPES_MAX = 15;

/** The place of a label's colour among the six of charts. */
export function colourNumber(labels: readonly string[], label: string | undefined): number {
  return (Math.max(0, labels.indexOf(label ?? "")) % 6) + 1;
}

export function graphColours(canvas: HTMLCanvasElement, labels: readonly string[]): GraphColours {
  const style = getComputedStyle(canvas);
  const colour = (name: string): string => resolved(canvas, style.getPropertyValue(name));
  const byLabel = new Map(labels.map((label) => [label, colour(`--series-${colourNumber(labels, label)}`)]));
  const byGroup = Array.from({ length: GROUPS_MAX + 1 }, (_, group) =>
    colour(group === 0 ? "--line-strong" : `--series-${group}`),
  );
  const muted = colour("--muted");
  return {
    of: ({ group, labels: [label = ""] }) => (group === undefined ? (byLabel.get(label) ?? muted) : byGroup[group]!),
    ...{ line: colour("--line-strong"), text: colour("--text"), muted },
    ...{ ground: colour("--surface"), accent: colour("--accent"), font: style.fontFamily },
  };
}

/** Groups that have a colour of their own. */
export const GROUPS_MAX = 10;

export function nodeAt({ nodes }: GraphModel, { x, y, scale }: GraphView, left: number, top: number): GraphNode | null {
  const [across, down] = [(left - x) / scale, (top - y) / scale];
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i]!;
    const reach = radiusOf(node) + 4 / scale;
    if (Math.abs(node.x! - across) < reach && Math.abs(node.y! - down) < reach) return node;
  }
  return null;
}

/** Over a graph that is drawn as pixels: what stands out in it, and from near the nodes that are seen, with names. */
export function drawOver(
  canvas: HTMLCanvasElement,
  model: GraphModel,
  view: GraphView,
  colours: GraphColours,
  { isMoving, ...shown }: Shown & { readonly isMoving: boolean },
): void {
  const { selected, hovered } = shown;
  const context = canvas.getContext("2d")!;
  const ratio = window.devicePixelRatio;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.translate(view.x, view.y);
  context.scale(view.scale, view.scale);
  if (selected !== null) {
    context.strokeStyle = colours.accent;
    context.lineWidth = 1.5 / view.scale;
    context.beginPath();
    for (const { source, target } of model.edges) {
      if (source !== selected && target !== selected) continue;
      context.moveTo(source.x!, source.y!);
      context.lineTo(target.x!, target.y!);
    }
    context.stroke();
  }
  for (const [node, colour] of [[hovered, colours.text] as const, [selected, colours.accent] as const]) {
    if (node === null) continue;
    context.strokeStyle = colour;
    context.lineWidth = 2.5 / view.scale;
    context.beginPath();
    context.arc(node.x!, node.y!, radiusOf(node) + 3 / view.scale, 0, Math.PI * 2);
    context.stroke();
  }
  if (view.scale <= NAMES_FROM_SCALE || model.places === null) return;
  const nodes = nodesIn(model.nodes, model.places, view);
  // Pixels have edges, which show at rest.
  if (!isMoving) drawNodes(context, { nodes }, view, colours, shown);
  drawNames(context, { nodes }, view, colours);
}

/** Those of a large graph that are seen. */
function nodesIn(nodes: readonly GraphNode[], { x, y }: GraphPlaces, view: GraphView): GraphNode[] {
  const { scale, width, height } = view;
  const room = RADIUS_MAX * scale;
  const found: GraphNode[] = [];
  for (let i = 0; i < x.length; i++) {
    const across = x[i]! * scale + view.x;
    const down = y[i]! * scale + view.y;
    if (across > -room && across < width + room && down > -room && down < height + room) found.push(nodes[i]!);
  }
  return found;
}

export function drawGraph(
  canvas: HTMLCanvasElement,
  model: GraphModel,
  view: GraphView,
  colours: GraphColours,
  shown: Shown,
): void {
  const ratio = window.devicePixelRatio;
  const [width, height] = [Math.floor(view.width * ratio), Math.floor(view.height * ratio)];
  if (canvas.width !== width || canvas.height !== height) {
    [canvas.width, canvas.height] = [width, height];
    canvas.style.width = `${view.width}px`;
    canvas.style.height = `${view.height}px`;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, view.width, view.height);
  context.translate(view.x, view.y);
  context.scale(view.scale, view.scale);
  drawEdges(context, model, view, colours, shown);
  drawNodes(context, model, view, colours, shown);
  if (model.nodes.length <= NAMED_MAX || view.scale > NAMES_FROM_SCALE) drawNames(context, model, view, colours);
}

function drawEdges(
  context: CanvasRenderingContext2D,
  { edges }: GraphModel,
  view: GraphView,
  { line, accent, muted, font }: GraphColours,
  { selected, marked }: Shown,
): void {
  context.lineWidth = Math.min(1, 0.9 / view.scale + 0.25);
  context.strokeStyle = line;
  context.globalAlpha = edges.length > 3_000 ? 0.25 : 0.6;
  context.beginPath();
  for (const { source, target } of edges) {
    context.moveTo(source.x!, source.y!);
    context.lineTo(target.x!, target.y!);
  }
  context.stroke();
  context.globalAlpha = 1;
  const stands = ({ source, target }: GraphEdge): boolean =>
    marked !== undefined && marked.size > 0
      ? marked.has(source.id) && marked.has(target.id)
      : source === selected || target === selected;
  context.strokeStyle = accent;
  context.lineWidth = 2;
  context.beginPath();
  for (const edge of edges) {
    if (!stands(edge)) continue;
    context.moveTo(edge.source.x!, edge.source.y!);
    context.lineTo(edge.target.x!, edge.target.y!);
  }
  context.stroke();
  if (edges.length > ARROWS_MAX || view.scale < 0.35) return;
  context.fillStyle = line;
  for (const edge of edges) drawArrow(context, edge);
  const named = edges.length <= TYPES_MAX ? edges : edges.filter(stands);
  if (view.scale < 0.5) return;
  context.fillStyle = muted;
  context.font = `${10 / view.scale}px ${font}`;
  context.textAlign = "center";
  for (const { source, target, type } of named) {
    context.fillText(type, (source.x! + target.x!) / 2, (source.y! + target.y!) / 2 - 3);
  }
}

function drawArrow(context: CanvasRenderingContext2D, { source, target }: GraphEdge): void {
  const angle = Math.atan2(target.y! - source.y!, target.x! - source.x!);
  const reach = radiusOf(target) + 1;
  const [x, y] = [target.x! - Math.cos(angle) * reach, target.y! - Math.sin(angle) * reach];
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - Math.cos(angle - 0.45) * 7, y - Math.sin(angle - 0.45) * 7);
  context.lineTo(x - Math.cos(angle + 0.45) * 7, y - Math.sin(angle + 0.45) * 7);
  context.fill();
}

function drawNodes(
  context: CanvasRenderingContext2D,
  { nodes }: Pick<GraphModel, "nodes">,
  view: GraphView,
  { of, ground, text, accent }: GraphColours,
  { selected, hovered, marked }: Shown,
): void {
  const hasMarked = marked !== undefined && marked.size > 0;
  for (const node of nodes) {
    const radius = radiusOf(node);
    if (!isSeen(node, radius, view)) continue;
    context.globalAlpha = hasMarked && !marked.has(node.id) ? 0.25 : 1;
    context.fillStyle = of(node);
    context.beginPath();
    context.arc(node.x!, node.y!, radius, 0, Math.PI * 2);
    context.fill();
    context.lineWidth = node === selected ? 3 : 1.5;
    context.strokeStyle = node === selected ? accent : node === hovered ? text : ground;
    context.stroke();
  }
  context.globalAlpha = 1;
}

function isSeen({ x = 0, y = 0 }: GraphNode, radius: number, view: GraphView): boolean {
  const [left, top] = [x * view.scale + view.x, y * view.scale + view.y];
  const reach = radius * view.scale;
  return left > -reach && left < view.width + reach && top > -reach && top < view.height + reach;
}

/** Names keep their size, and stand where no other does. */
function drawNames(
  context: CanvasRenderingContext2D,
  { nodes }: Pick<GraphModel, "nodes">,
  view: GraphView,
  colours: GraphColours,
): void {
  const size = 11 / view.scale;
  context.font = `${size}px ${colours.font}`;
  context.textAlign = "center";
  context.textBaseline = "top";
  context.fillStyle = colours.text;
  context.strokeStyle = colours.ground;
  context.lineWidth = 3 / view.scale;
  context.lineJoin = "round";
  const taken = new Set<string>();
  const seen = nodes.filter((node) => isSeen(node, radiusOf(node), view));
  for (const node of seen.sort((a, b) => radiusOf(b) - radiusOf(a))) {
    const radius = radiusOf(node);
    const place = `${Math.round((node.x! * view.scale) / 80)}:${Math.round((node.y! * view.scale) / 18)}`;
    if (taken.has(place)) continue;
    taken.add(place);
    const name = captionOf(node);
    context.strokeText(name, node.x!, node.y! + radius + 3 / view.scale);
    context.fillText(name, node.x!, node.y! + radius + 3 / view.scale);
  }
}
