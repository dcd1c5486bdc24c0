/**
 * Draws large graphs as pixels: fifty thousand nodes take some tens of milliseconds, also where there is no graphics
 * card. Where many relationships lie over each other, they are darker. Used by graph-canvas.tsx.
 */
import type { GraphColours, GraphView } from "./graph-drawing.js";
import { radiusOf } from "./graph-forces.js";
import type { GraphModel, GraphNode } from "./graph-model.js";
import { pixelOf, rowsOfDisc } from "./map-drawing.js";

/** Pixels of relationships in one picture; what is beyond is left out, which hardly shows among so many. */
const LINE_PIXELS_MAX = 8_000_000;
const DENSEST = 24;
/** Relationships in each picture of a graph that is being moved, evenly chosen. The picture at rest has them all. */
const MOVING_EDGES_MAX = 15_000;

export class GraphPixels {
  private pixels: ImageData | null = null;
  private words = new Uint32Array(0);
  /** How many relationships go through each pixel. */
  private density = new Uint8Array(0);
  private pixelsLeft = 0;
  /** For how many relationships each line stands. */
  private weight = 1;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  draw(
    { nodes, edges }: GraphModel,
    view: GraphView,
    colours: GraphColours,
    { marked, isMoving }: { readonly marked: ReadonlySet<number>; readonly isMoving: boolean },
  ): void {
    const ratio = window.devicePixelRatio;
    const [width, height] = [Math.floor(view.width * ratio), Math.floor(view.height * ratio)];
    if (width === 0 || height === 0) return;
    this.prepare(width, height);
    const [scale, left, top] = [view.scale * ratio, view.x * ratio, view.y * ratio];
    this.weight = isMoving ? Math.ceil(edges.length / MOVING_EDGES_MAX) : 1;
    for (let i = 0; i < edges.length && this.pixelsLeft > 0; i += this.weight) {
      const { source, target } = edges[i]!;
      this.line(source.x! * scale + left, source.y! * scale + top, target.x! * scale + left, target.y! * scale + top);
    }
    this.showDensity(colours.line, edges.length);
    this.drawNodes(nodes, { scale, left, top, ratio }, colours, marked);
    const context = this.canvas.getContext("2d")!;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(this.pixels!, 0, 0);
  }

  private prepare(width: number, height: number): void {
    if (this.pixels?.width !== width || this.pixels.height !== height || this.canvas.width !== width) {
      [this.canvas.width, this.canvas.height] = [width, height];
      this.pixels = new ImageData(width, height);
      this.words = new Uint32Array(this.pixels.data.buffer);
      this.density = new Uint8Array(width * height);
    }
    this.words.fill(0);
    this.density.fill(0);
    this.pixelsLeft = LINE_PIXELS_MAX;
  }

  private line(x0: number, y0: number, x1: number, y1: number): void {
    const { width, height } = this.pixels!;
    const [right, bottom] = [width - 1, height - 1];
    const isInside =
      x0 >= 0 && x0 <= right && x1 >= 0 && x1 <= right && y0 >= 0 && y0 <= bottom && y1 >= 0 && y1 <= bottom;
    if (isInside) this.count(x0, y0, x1, y1, width);
    else this.seenPart(x0, y0, x1, y1, right, bottom);
  }

  /** As Liang and Barsky cut it. */
  private seenPart(x0: number, y0: number, x1: number, y1: number, right: number, bottom: number): void {
    const dx = x1 - x0;
    const dy = y1 - y0;
    let from = 0;
    let to = 1;
    for (let side = 0; side < 4; side++) {
      const along = side === 0 ? -dx : side === 1 ? dx : side === 2 ? -dy : dy;
      const left = side === 0 ? x0 : side === 1 ? right - x0 : side === 2 ? y0 : bottom - y0;
      if (along === 0 && left < 0) return;
      if (along < 0) from = Math.max(from, left / along);
      else if (along > 0) to = Math.min(to, left / along);
      if (from > to) return;
    }
    this.count(x0 + dx * from, y0 + dy * from, x0 + dx * to, y0 + dy * to, right + 1);
  }

  private count(x0: number, y0: number, x1: number, y1: number, width: number): void {
    const { density, weight } = this;
    const steps = Math.ceil(Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0)));
    this.pixelsLeft -= steps;
    const stepX = steps === 0 ? 0 : (x1 - x0) / steps;
    const stepY = steps === 0 ? 0 : (y1 - y0) / steps;
    let x = x0;
    let y = y0;
    for (let i = 0; i <= steps; i++) {
      const at = (y | 0) * width + (x | 0);
      density[at] = Math.min(DENSEST, density[at]! + weight);
      x += stepX;
      y += stepY;
    }
  }

  private showDensity(line: string, count: number): void {
    const { density, words } = this;
    const first = count > 30_000 ? 34 : 60;
    const shades = Uint32Array.from({ length: DENSEST + 1 }, (_, i) =>
      i === 0 ? 0 : pixelOf(line, Math.min(210, first + (i - 1) * 14)),
    );
    for (let i = 0; i < density.length; i++) if (density[i] !== 0) words[i] = shades[density[i]!]!;
  }

  private drawNodes(
    nodes: readonly GraphNode[],
    { scale, left, top, ratio }: Readonly<Record<"scale" | "left" | "top" | "ratio", number>>,
    colours: GraphColours,
    marked: ReadonlySet<number>,
  ): void {
    const pixels = new Map<string, number>();
    const pixelFor = (colour: string, isFaint: boolean): number => {
      const key = isFaint ? `${colour} ` : colour;
      let pixel = pixels.get(key);
      if (pixel === undefined) {
        pixel = pixelOf(colour, isFaint ? 70 : 255);
        pixels.set(key, pixel);
      }
      return pixel;
    };
    const discs = new Map<number, Int32Array>();
    for (const node of nodes) {
      // Small ones stay visible, and do not cover all when the whole graph is shown.
      const radius = Math.max(0.5 * ratio, Math.round(Math.min(radiusOf(node), 20) * scale * 2) / 2);
      let disc = discs.get(radius);
      if (disc === undefined) {
        disc = rowsOfDisc(radius);
        discs.set(radius, disc);
      }
      const isFaint = marked.size > 0 && !marked.has(node.id);
      this.disc(node.x! * scale + left, node.y! * scale + top, disc, pixelFor(colours.of(node), isFaint));
    }
  }

  private disc(x: number, y: number, disc: Int32Array, pixel: number): void {
    const { words } = this;
    const { width, height } = this.pixels!;
    const reach = disc.length >> 1;
    const [across, down] = [Math.round(x), Math.round(y)];
    if (across < -reach || down < -reach || across >= width + reach || down >= height + reach) return;
    for (let row = 0; row < disc.length; row++) {
      const line = down + row - reach;
      if (line < 0 || line >= height) continue;
      const half = disc[row]!;
      const to = Math.min(width - 1, across + half);
      for (let at = Math.max(0, across - half); at <= to; at++) words[line * width + at] = pixel;
    }
  }
}
