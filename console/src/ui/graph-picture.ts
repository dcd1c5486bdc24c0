/** A graph as a picture that can be saved: what is seen as PNG, all of it as SVG. Used by graph-canvas.tsx. */
import type { GraphColours } from "./graph-drawing.js";
import { radiusOf } from "./graph-forces.js";
import { captionOf, type GraphModel } from "./graph-model.js";

/** What the canvas shows, on the page's ground. */
export function pngOf(canvas: HTMLCanvasElement, ground: string): Promise<Blob> {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const context = copy.getContext("2d")!;
  context.fillStyle = ground;
  context.fillRect(0, 0, copy.width, copy.height);
  context.drawImage(canvas, 0, 0);
  return new Promise((resolve, reject) => {
    copy.toBlob((blob) => (blob === null ? reject(new Error("The browser made no picture.")) : resolve(blob)));
  });
}

const NAMED_MAX = 2_000;
const ROOM = 60;
const NODES_AT_ONCE = 2_000;

/** With names, where there are not too many of them. */
export function svgOf({ nodes, edges }: GraphModel, colours: GraphColours): Blob {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x = 0, y = 0 } of nodes) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  const [width, height] = [right - left + ROOM * 2, bottom - top + ROOM * 2];
  const at = (value: number | undefined, from: number): string => ((value ?? 0) - from + ROOM).toFixed(1);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width.toFixed(0)} ${height.toFixed(0)}" font-family="sans-serif" font-size="11">\n`,
    `<rect width="100%" height="100%" fill="${colours.ground}"/>\n<path fill="none" stroke="${colours.line}" stroke-opacity="0.6" d="`,
  ];
  for (const { source, target } of edges) {
    parts.push(`M${at(source.x, left)} ${at(source.y, top)}L${at(target.x, left)} ${at(target.y, top)}`);
  }
  parts.push('"/>\n');
  for (let from = 0; from < nodes.length; from += NODES_AT_ONCE) {
    const circles = nodes.slice(from, from + NODES_AT_ONCE).map((node) => {
      const place = `cx="${at(node.x, left)}" cy="${at(node.y, top)}" r="${radiusOf(node).toFixed(1)}"`;
      return `<circle ${place} fill="${colours.of(node)}" stroke="${colours.ground}"><title>${escaped(captionOf(node))}</title></circle>\n`;
    });
    parts.push(circles.join(""));
  }
  if (nodes.length <= NAMED_MAX) {
    parts.push(`<g text-anchor="middle" fill="${colours.text}">\n`);
    for (const node of nodes) {
      const below = (node.y ?? 0) + radiusOf(node) + 12;
      parts.push(`<text x="${at(node.x, left)}" y="${at(below, top)}">${escaped(captionOf(node))}</text>\n`);
    }
    parts.push("</g>\n");
  }
  return new Blob([...parts, "</svg>\n"], { type: "image/svg+xml" });
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Characters that XML does not allow are left out. */
function escaped(text: string): string {
  return text.replace(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, "").replace(/[&<>"]/g, (each) => ENTITIES[each]!);
}
