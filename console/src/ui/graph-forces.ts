/** The simulation of forces that gives nodes their places (d3-force). In the page for few, in a worker for many. */
import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type Simulation,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from "d3-force";

/** With more nodes a step takes longer than a frame. */
export const PAGE_NODES_MAX = 1_500;
/** With more, fewer steps have to do. */
const VERY_MANY = 15_000;

/** Of any node. */
export const RADIUS_MAX = 24;

export function radiusOf({
  degree,
  weight,
}: {
  readonly degree: number;
  readonly weight?: number | undefined;
}): number {
  return weight === undefined ? 6 + Math.min(14, Math.sqrt(degree) * 2) : 4 + Math.sqrt(weight) * 20;
}

/** Begins at once; a worker stops it and makes its steps itself. */
export function forcesOf<N extends SimulationNodeDatum, E extends SimulationLinkDatum<N>>(
  nodes: N[],
  edges: E[],
): Simulation<N, E> {
  const isLarge = nodes.length > PAGE_NODES_MAX;
  const isVeryLarge = nodes.length > VERY_MANY;
  const made = forceSimulation<N>(nodes)
    .force(
      "charge",
      forceManyBody<N>()
        .strength(isLarge ? -30 : -160)
        .theta(isLarge ? 1.4 : 0.9)
        .distanceMax(isLarge ? Number.POSITIVE_INFINITY : 900),
    )
    .force("link", forceLink<N, E>(edges).distance(isLarge ? 30 : 64))
    .force("x", forceX<N>().strength(0.03))
    .force("y", forceY<N>().strength(0.03));
  made.alphaDecay(isVeryLarge ? 0.07 : isLarge ? 0.06 : 0.028);
  return made as unknown as Simulation<N, E>;
}

/** Around each node, for itself and its name. */
const ROOM = 8;

/** Keeps nodes of a small graph apart, as large as they are now. */
export function keepApart<N extends SimulationNodeDatum & Parameters<typeof radiusOf>[0]>(
  simulation: Simulation<N, undefined>,
): void {
  simulation.force(
    "collide",
    forceCollide<N>((node) => radiusOf(node) + ROOM),
  );
}
