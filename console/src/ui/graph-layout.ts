/** Gives the nodes of a graph their places, in the page or in a worker. Owned by graph-model.ts. */
import type { Simulation } from "d3-force";
import { forcesOf, keepApart, PAGE_NODES_MAX } from "./graph-forces.js";
import type { LayoutOrder, LayoutPlaces } from "./graph-layout-worker.js";
import type { GraphEdge, GraphNode } from "./graph-model.js";

/** The worker's file; scripts/console.mjs puts it in. */
declare const LAYOUT_WORKER: string;

/** As large graphs are drawn; numbers of nodes are their places in the arrays. */
export interface GraphPlaces extends LayoutPlaces {
  /** Two for each relationship. */
  readonly ends: Uint32Array;
}

export interface GraphLayout {
  /** Null: the nodes themselves have their places. */
  readonly places: GraphPlaces | null;
  /** While a node is drawn by the pointer; null lets it go. */
  hold(node: GraphNode, place: { readonly x: number; readonly y: number } | null): void;
  /** Nodes have another size now. */
  makeRoom(): void;
  stop(): void;
}

/** Calls `draw` as the nodes move. */
export function layOut(nodes: GraphNode[], edges: GraphEdge[], draw: () => void): GraphLayout {
  return nodes.length > PAGE_NODES_MAX ? new WorkerLayout(nodes, edges, draw) : new PageLayout(nodes, edges, draw);
}

class PageLayout implements GraphLayout {
  readonly places = null;
  private readonly simulation: Simulation<GraphNode, GraphEdge>;

  constructor(nodes: GraphNode[], edges: GraphEdge[], draw: () => void) {
    this.simulation = forcesOf(nodes, edges).on("tick", draw);
    keepApart(this.simulation);
  }

  makeRoom(): void {
    keepApart(this.simulation);
    this.simulation.alpha(Math.max(this.simulation.alpha(), 0.3)).restart();
  }

  hold(node: GraphNode, place: { readonly x: number; readonly y: number } | null): void {
    [node.fx, node.fy] = [place?.x ?? null, place?.y ?? null];
    if (place !== null) this.simulation.alpha(0.3).restart();
  }

  stop(): void {
    this.simulation.stop();
  }
}

class WorkerLayout implements GraphLayout {
  places: GraphPlaces;
  private readonly worker = new Worker(scriptOf(LAYOUT_WORKER));

  constructor(
    private readonly nodes: readonly GraphNode[],
    edges: readonly GraphEdge[],
    draw: () => void,
  ) {
    for (const [i, node] of nodes.entries()) node.index = i;
    const ends = new Uint32Array(edges.length * 2);
    for (const [i, { source, target }] of edges.entries()) {
      [ends[i * 2], ends[i * 2 + 1]] = [source.index!, target.index!];
    }
    const x = Float32Array.from(nodes, (node) => node.x ?? Number.NaN);
    const y = Float32Array.from(nodes, (node) => node.y ?? Number.NaN);
    this.places = { x, y, ends };
    this.worker.onmessage = ({ data }: MessageEvent<LayoutPlaces>) => {
      this.places = { ...data, ends };
      for (let i = 0; i < nodes.length; i++) [nodes[i]!.x, nodes[i]!.y] = [data.x[i]!, data.y[i]!];
      draw();
    };
    this.order({ kind: "begin", x, y, ends });
  }

  private order(order: LayoutOrder): void {
    this.worker.postMessage(order);
  }

  hold(node: GraphNode, place: { readonly x: number; readonly y: number } | null): void {
    if (this.nodes[node.index!] === node) this.order({ kind: "hold", node: node.index!, place });
  }

  /** Nodes are many, and small: they may lie over each other. */
  makeRoom(): void {}

  stop(): void {
    this.worker.terminate();
  }
}

interface ScriptPolicy {
  createScriptURL(name: string): string;
}

/** The only script that the page starts by itself; its policy of content knows no other name. */
let policy: ScriptPolicy | undefined;

function scriptOf(name: string): string {
  const { trustedTypes } = window as unknown as {
    trustedTypes?: { createPolicy(name: string, rules: ScriptPolicy): ScriptPolicy };
  };
  const rules: ScriptPolicy = {
    createScriptURL: (file) => {
      if (file !== LAYOUT_WORKER) throw new Error(`${file} is not a script of this page.`);
      return new URL(file, document.baseURI).href;
    },
  };
  policy ??= trustedTypes?.createPolicy("layout-worker", rules) ?? rules;
  return policy.createScriptURL(name);
}
