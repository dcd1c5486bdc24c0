/** Words in an SVG. Called by the charts. */
export function svgText(x: number, y: number, words: string, attributes: string): string {
  const escaped = words.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  return `<text x="${x.toFixed(1)}" y="${y}" ${attributes}>${escaped}</text>`;
}
