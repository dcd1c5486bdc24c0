/**
 * Draws points of a map as pixels: a hundred thousand take some milliseconds, also where there is no graphics card.
 * Used by map-canvas.tsx.
 */

/** Points of a map, by index. */
export interface MapPoints {
  /** From −1 to 1. */
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** The place of each point's colour. */
  readonly colours: Uint8Array;
  /** 0: not kept by the filter. Null: all are. */
  readonly kept: Uint8Array | null;
  /** These stand out. */
  readonly marked: readonly number[];
}

/** Where the middle of the map stands on the canvas, in its own pixels, and how many of them are 1. */
export interface MapView {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
  readonly width: number;
  readonly height: number;
}

export interface MapPalette {
  /** As the bytes of a pixel in this machine's order. */
  readonly byPlace: Uint32Array;
  /** Of points that the filter does not keep. */
  readonly faint: number;
  readonly mark: string;
}

export class MapDrawing {
  private pixels: ImageData | null = null;
  /** One place for each pixel of the picture. */
  private words = new Uint32Array(0);

  constructor(private readonly canvas: HTMLCanvasElement) {}

  draw(points: MapPoints, view: MapView, palette: MapPalette, ratio: number): void {
    const { canvas } = this;
    const [width, height] = [Math.floor(view.width * ratio), Math.floor(view.height * ratio)];
    if (width === 0 || height === 0) return;
    if (this.pixels === null || this.pixels.width !== width || this.pixels.height !== height) {
      [canvas.width, canvas.height] = [width, height];
      this.pixels = new ImageData(width, height);
      this.words = new Uint32Array(this.pixels.data.buffer);
    }
    this.words.fill(0);
    const radius = radiusOf(points.x.length, view.scale) * ratio;
    const { kept } = points;
    if (kept !== null) this.drawPoints(points, view, ratio, radius, (i) => (kept[i] === 0 ? palette.faint : null));
    this.drawPoints(points, view, ratio, radius, (i) =>
      kept === null || kept[i] === 1 ? palette.byPlace[points.colours[i]!]! : null,
    );
    const context = canvas.getContext("2d")!;
    context.putImageData(this.pixels, 0, 0);
    this.drawMarks(context, points, view, ratio, radius, palette);
  }

  private drawPoints(
    { x, y }: MapPoints,
    view: MapView,
    ratio: number,
    radius: number,
    colourOf: (index: number) => number | null,
  ): void {
    const { words } = this;
    const { width, height } = this.pixels!;
    const disc = rowsOfDisc(radius);
    const reach = disc.length >> 1;
    const [scale, left, top] = [view.scale * ratio, view.x * ratio, view.y * ratio];
    for (let i = 0; i < x.length; i++) {
      const across = Math.round(x[i]! * scale + left);
      const down = Math.round(y[i]! * scale + top);
      if (across < -reach || down < -reach || across >= width + reach || down >= height + reach) continue;
      const colour = colourOf(i);
      if (colour === null) continue;
      for (let row = 0; row < disc.length; row++) {
        const line = down + row - reach;
        if (line < 0 || line >= height) continue;
        const half = disc[row]!;
        const from = Math.max(0, across - half);
        const to = Math.min(width - 1, across + half);
        const start = line * width;
        for (let at = from; at <= to; at++) words[start + at] = colour;
      }
    }
  }

  private drawMarks(
    context: CanvasRenderingContext2D,
    { x, y, marked }: MapPoints,
    view: MapView,
    ratio: number,
    radius: number,
    { mark }: MapPalette,
  ): void {
    context.strokeStyle = mark;
    context.lineWidth = 2 * ratio;
    for (const i of marked) {
      context.beginPath();
      context.arc(
        (x[i]! * view.scale + view.x) * ratio,
        (y[i]! * view.scale + view.y) * ratio,
        radius + 4 * ratio,
        0,
        Math.PI * 2,
      );
      context.stroke();
    }
  }
}

/** Fewer points are larger, and all grow with the map. */
function radiusOf(count: number, scale: number): number {
  const usual = count > 50_000 ? 1 : count > 10_000 ? 1.5 : count > 1_000 ? 2.5 : 4;
  return usual * Math.max(0.7, Math.min(3, Math.sqrt(scale / 350)));
}

/** Half the width of each line of a disc. */
export function rowsOfDisc(radius: number): Int32Array {
  const reach = Math.floor(radius + 0.4);
  return Int32Array.from({ length: reach * 2 + 1 }, (_, row) =>
    Math.floor(Math.sqrt(Math.max(0, radius * radius - (row - reach) ** 2)) + 0.4),
  );
}

/** A colour as CSS computes it, which is rgb(1, 2, 3), as a pixel. */
export function pixelOf(colour: string, alpha = 255): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  const bytes = new Uint8ClampedArray([red, green, blue, alpha]);
  return new Uint32Array(bytes.buffer)[0]!;
}

/** The nearest point to a place on the canvas, at most so many pixels away; null: none. */
export function pointNear({ x, y, kept }: MapPoints, view: MapView, left: number, top: number, reach: number) {
  const [across, down] = [(left - view.x) / view.scale, (top - view.y) / view.scale];
  let nearest = (reach / view.scale) ** 2;
  let found: number | null = null;
  for (let i = 0; i < x.length; i++) {
    if (kept !== null && kept[i] === 0) continue;
    const distance = (x[i]! - across) ** 2 + (y[i]! - down) ** 2;
    if (distance < nearest) [nearest, found] = [distance, i];
  }
  return found;
}

export type Outline = readonly (readonly [left: number, top: number])[];

/** Points inside of an outline that was drawn on the canvas. */
export function pointsWithin({ x, y, kept }: MapPoints, view: MapView, outline: Outline): readonly number[] {
  const corners = outline.map(([left, top]) => [(left - view.x) / view.scale, (top - view.y) / view.scale] as const);
  const found: number[] = [];
  for (let i = 0; i < x.length; i++) {
    if (kept !== null && kept[i] === 0) continue;
    let isInside = false;
    for (let a = 0, b = corners.length - 1; a < corners.length; b = a++) {
      const [ax, ay] = corners[a]!;
      const [bx, by] = corners[b]!;
      if (ay > y[i]! !== by > y[i]! && x[i]! < ((bx - ax) * (y[i]! - ay)) / (by - ay) + ax) isInside = !isInside;
    }
    if (isInside) found.push(i);
  }
  return found;
}
