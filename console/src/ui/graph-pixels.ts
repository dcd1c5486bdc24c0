/**
 * Draws large graphs as pixels: fifty thousand nodes take some tens of milliseconds, also where there is no graphics
 * card. Where many relationships lie over each other, they are darker. Used by graph-canvas.tsx.
 */
import type { GraphColours, GraphView } from "./graph-drawing.js";
import { radiusOf } from "./graph-forces.js";
import type { GraphPlaces } from "./graph-layout.js";
import type { GraphNode } from "./graph-model.js";
import { pixelOf, rowsOfDisc } from "./map-drawing.js";

/** Pixels of relationships in one picture; what is beyond is left out, which hardly shows among so many. */
const LINE_PIXELS_MAX = 8_000_000;
const DENSEST = 24;
/** Relationships in each picture of a graph that is being moved, evenly chosen. The picture at rest has them all. */
const MOVING_EDGES_MAX = 15_000;

interface PixelStyle {
  readonly colours: GraphColours;
  /** Empty: all nodes stand out alike. */
  readonly marked: ReadonlySet<number>;
}

/** How each node looks, found out once for many pictures. */
interface NodeStyles {
  /** At a scale of 1. */
  readonly radii: Float32Array;
  readonly shades: Uint32Array;
}

export class GraphPixels {
  private pixels: ImageData | null = null;
  private words = new Uint32Array(0);
  /** How many relationships go through each pixel. */
  private density = new Uint8Array(0);
  private pixelsLeft = 0;
  /** For how many relationships each line stands. */
  private weight = 1;
  private styles: NodeStyles | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  /** `nodes` are those of the places. */
  draw(
    { x, y, ends }: GraphPlaces,
    nodes: readonly GraphNode[],
    view: GraphView,
    { colours, marked, isMoving }: PixelStyle & { readonly isMoving: boolean },
  ): void {
    const ratio = window.devicePixelRatio;
    const [width, height] = [Math.floor(view.width * ratio), Math.floor(view.height * ratio)];
    if (width === 0 || height === 0) return;
    this.prepare(width, height);
    const [scale, left, top] = [view.scale * ratio, view.x * ratio, view.y * ratio];
    const count = ends.length / 2;
    this.weight = isMoving ? Math.ceil(count / MOVING_EDGES_MAX) : 1;
    for (let i = 0; i < ends.length && this.pixelsLeft > 0; i += 2 * this.weight) {
      const [from, to] = [ends[i]!, ends[i + 1]!];
      this.line(x[from]! * scale + left, y[from]! * scale + top, x[to]! * scale + left, y[to]! * scale + top);
    }
    this.showDensity(colours.line, count);
    if (this.styles === null || this.styles.radii.length !== x.length) {
      this.styles = stylesOf(nodes.slice(0, x.length), { colours, marked });
    }
    this.drawNodes(x, y, this.styles, { scale, left, top, ratio });
    const context = this.canvas.getContext("2d")!;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(this.pixels!, 0, 0);
  }

  /** Colours, groups, weights or marks have changed. */
  restyle(): void {
    this.styles = null;
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
    x: Float32Array,
    y: Float32Array,
    { radii, shades }: NodeStyles,
    { scale, left, top, ratio }: Readonly<Record<"scale" | "left" | "top" | "ratio", number>>,
  ): void {
    /** By twice the radius. */
    const discs: (Int32Array | undefined)[] = [];
    for (let i = 0; i < x.length; i++) {
      // Small ones stay visible, and do not cover all when the whole graph is shown.
      const twice = Math.max(ratio, Math.round(radii[i]! * scale * 2));
      let disc = discs[twice];
      if (disc === undefined) {
        disc = rowsOfDisc(twice / 2);
        discs[twice] = disc;
      }
      this.disc(x[i]! * scale + left, y[i]! * scale + top, disc, shades[i]!);
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

function stylesOf(nodes: readonly GraphNode[], { colours, marked }: PixelStyle): NodeStyles {
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
  return {
    radii: Float32Array.from(nodes, (node) => radiusOf(node)),
    shades: Uint32Array.from(nodes, (node) => pixelFor(colours.of(node), marked.size > 0 && !marked.has(node.id))),
  };
}
