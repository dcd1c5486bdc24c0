/** Nodes and relationships that are shown. graph-layout.ts gives them their places. */
import type { SimulationLinkDatum, SimulationNodeDatum } from "d3-force";
import { type GraphLayout, type GraphPlaces, layOut } from "./graph-layout.js";

export interface GraphNode extends SimulationNodeDatum {
  readonly id: number;
  readonly labels: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
  /** Relationships that are shown. */
  degree: number;
  /** What an algorithm has found, 0 to 1: the node's size. Absent: its degree is. */
  weight?: number | undefined;
  /** The place of the group that an algorithm has put it into, from 1 on; 0: a small one. Absent: its label counts. */
  group?: number | undefined;
}

export interface GraphEdge extends SimulationLinkDatum<GraphNode> {
  readonly id: number;
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
  source: GraphNode;
  target: GraphNode;
}

interface SentNode {
  readonly id: number;
  readonly labels: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
}

interface SentEdge {
  readonly id: number;
  readonly type: string;
  readonly src: number;
  readonly dst: number;
  readonly properties: Readonly<Record<string, unknown>>;
}

function isNode(value: unknown): value is SentNode {
  return typeof value === "object" && value !== null && "labels" in value && "properties" in value && "id" in value;
}

function isEdge(value: unknown): value is SentEdge {
  return typeof value === "object" && value !== null && "src" in value && "dst" in value && "type" in value;
}

export class GraphModel {
  readonly nodes: GraphNode[] = [];
  readonly edges: GraphEdge[] = [];
  private readonly nodeById = new Map<number, GraphNode>();
  private readonly edgeIds = new Set<number>();
  /** Relationships whose ends are not there yet. */
  private loose: SentEdge[] = [];
  private layout: GraphLayout | null = null;

  /** Everything of a graph that a value of a result holds: nodes, relationships, paths, and lists of them. */
  add(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) this.add(item);
    else if (isEdge(value)) this.addEdge(value);
    else if (isNode(value)) this.addNode(value);
    else if (typeof value === "object" && value !== null && "nodes" in value && "relationships" in value) {
      this.add(value.nodes);
      this.add(value.relationships);
    }
  }

  node(id: number): GraphNode | undefined {
    return this.nodeById.get(id);
  }

  private addNode({ id, labels, properties }: SentNode): void {
    if (this.nodeById.has(id)) return;
    const node: GraphNode = { id, labels, properties, degree: 0 };
    this.nodeById.set(id, node);
    this.nodes.push(node);
  }

  private addEdge(edge: SentEdge): void {
    if (!this.edgeIds.has(edge.id)) this.loose.push(edge);
    this.edgeIds.add(edge.id);
  }

  /** After things were added: joins what belongs together. */
  join(): void {
    this.loose = this.loose.filter((edge) => {
      const [source, target] = [this.nodeById.get(edge.src), this.nodeById.get(edge.dst)];
      if (source === undefined || target === undefined) return true;
      source.degree++;
      target.degree++;
      this.edges.push({ id: edge.id, type: edge.type, properties: edge.properties, source, target });
      // A new node begins beside one that has its place.
      if (source.x === undefined && target.x !== undefined) [source.x, source.y] = [target.x + 20, target.y! + 20];
      if (target.x === undefined && source.x !== undefined) [target.x, target.y] = [source.x + 20, source.y! - 20];
      return false;
    });
  }

  /** Gives everything a place, and calls `draw` as it moves there. */
  settle(draw: () => void): void {
    this.stop();
    this.layout = layOut(this.nodes, this.edges, draw);
  }

  /** Of a large graph. */
  get places(): GraphPlaces | null {
    return this.layout?.places ?? null;
  }

  /** While a node is drawn by the pointer; null lets it go. */
  hold(node: GraphNode, place: { readonly x: number; readonly y: number } | null): void {
    this.layout?.hold(node, place);
  }

  /** After nodes got other sizes. */
  makeRoom(): void {
    this.layout?.makeRoom();
  }

  stop(): void {
    this.layout?.stop();
  }

  labels(): readonly string[] {
    return [...new Set(this.nodes.flatMap(({ labels }) => labels.slice(0, 1)))].sort();
  }
}

const NAMES = ["name", "title", "label", "username", "id"];

/** What a node is called: a property that sounds like a name, or its label. */
export function captionOf({ properties, labels, id }: Pick<GraphNode, "properties" | "labels" | "id">): string {
  const key = NAMES.find((name) => typeof properties[name] === "string" || typeof properties[name] === "number");
  if (key !== undefined) return String(properties[key]).slice(0, 40);
  const text = Object.values(properties).find((value) => typeof value === "string");
  return text === undefined ? `${labels[0] ?? "Node"} ${id}` : String(text).slice(0, 40);
}
