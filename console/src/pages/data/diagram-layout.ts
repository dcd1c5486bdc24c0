/** Where the boxes of a diagram of tables stand, and the lines between them. Pure. */

export interface DiagramTable {
  readonly id: string;
  readonly name: string;
  readonly columns: readonly DiagramColumn[];
  /** Columns that are not shown. */
  readonly more: number;
}

export interface DiagramColumn {
  readonly name: string;
  readonly type: string;
  readonly isPrimary: boolean;
  readonly isForeign: boolean;
}

export interface ForeignKey {
  readonly from: string;
  readonly fromColumn: string;
  readonly to: string;
  readonly toColumn: string;
}

export interface Box {
  readonly table: DiagramTable;
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

export interface Line {
  readonly key: ForeignKey;
  readonly path: string;
}

export interface Layout {
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
  readonly width: number;
  readonly height: number;
}

export const BOX_WIDTH = 220;
export const HEAD = 30;
export const ROW = 21;
const ACROSS = 90;
const BETWEEN = 26;
const MARGIN = 20;
const SWEEPS = 4;

function heightOf({ columns, more }: DiagramTable): number {
  return HEAD + (columns.length + (more > 0 ? 1 : 0)) * ROW + 6;
}

/** Tables stand to the right of those that they refer to; those without keys stand below. `columns`: of boxes. */
export function layoutOf(tables: readonly DiagramTable[], keys: readonly ForeignKey[], columns: number): Layout {
  const joined = new Set(keys.flatMap(({ from, to }) => [from, to]));
  const linked = tables.filter(({ id }) => joined.has(id));
  const ranks = ranksOf(linked, keys);
  const layers: DiagramTable[][] = [];
  for (const table of linked) {
    const rank = ranks.get(table.id)!;
    layers[rank] ??= [];
    layers[rank].push(table);
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) order(layers, keys);
  const boxes: Box[] = [];
  let bottom = MARGIN;
  for (const [rank, layer] of layers.entries()) {
    let y = MARGIN;
    for (const table of layer ?? []) {
      const height = heightOf(table);
      boxes.push({ table, x: MARGIN + rank * (BOX_WIDTH + ACROSS), y, height });
      y += height + BETWEEN;
    }
    bottom = Math.max(bottom, y);
  }
  boxes.push(
    ...inGrid(
      tables.filter(({ id }) => !joined.has(id)),
      bottom,
      Math.max(columns, 1),
    ),
  );
  const byId = new Map(boxes.map((box) => [box.table.id, box]));
  return {
    boxes,
    lines: keys.flatMap((key) => {
      const [from, to] = [byId.get(key.from), byId.get(key.to)];
      return from === undefined || to === undefined ? [] : [{ key, path: pathOf(key, from, to) }];
    }),
    width: Math.max(0, ...boxes.map(({ x }) => x)) + BOX_WIDTH + MARGIN,
    height: Math.max(0, ...boxes.map(({ y, height }) => y + height)) + MARGIN,
  };
}

/** How many references lead from a table to one that refers to nothing; a circle ends where it began. */
function ranksOf(tables: readonly DiagramTable[], keys: readonly ForeignKey[]): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>();
  const rankOf = (id: string, above: ReadonlySet<string>): number => {
    const known = ranks.get(id);
    if (known !== undefined) return known;
    const inside = new Set([...above, id]);
    const targets = keys.filter(({ from, to }) => from === id && !inside.has(to));
    const rank = Math.max(-1, ...targets.map(({ to }) => rankOf(to, inside))) + 1;
    if (above.size === 0) ranks.set(id, rank);
    return rank;
  };
  for (const { id } of tables) rankOf(id, new Set());
  return ranks;
}

/** Each table goes to the middle of its neighbours, so that fewer lines cross. */
function order(layers: readonly DiagramTable[][], keys: readonly ForeignKey[]): void {
  const places = new Map(layers.flatMap((layer) => (layer ?? []).map(({ id }, i) => [id, i] as const)));
  for (const layer of layers) {
    const wanted = new Map(
      (layer ?? []).map(({ id }, i) => {
        const near = keys.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : []));
        const sum = near.reduce((total, other) => total + places.get(other)!, 0);
        return [id, near.length === 0 ? i : sum / near.length] as const;
      }),
    );
    layer?.sort((a, b) => wanted.get(a.id)! - wanted.get(b.id)!);
    for (const [i, { id }] of (layer ?? []).entries()) places.set(id, i);
  }
}

/** Each goes below the shortest column. */
function inGrid(tables: readonly DiagramTable[], top: number, columns: number): Box[] {
  const ends = new Array<number>(columns).fill(top);
  return tables.map((table) => {
    const at = ends.indexOf(Math.min(...ends));
    const height = heightOf(table);
    const y = ends[at]!;
    ends[at] = y + height + BETWEEN;
    return { table, x: MARGIN + at * (BOX_WIDTH + BETWEEN), y, height };
  });
}

function rowOf({ table, y }: Box, column: string): number {
  const at = table.columns.findIndex(({ name }) => name === column);
  return y + HEAD + (at < 0 ? table.columns.length + 0.5 : at + 0.5) * ROW;
}

/** From a side of the one box to a side of the other, with a bend that shows where it begins and ends. */
function pathOf({ fromColumn, toColumn }: ForeignKey, from: Box, to: Box): string {
  const [fromY, toY] = [rowOf(from, fromColumn), rowOf(to, toColumn)];
  const isRight = from.x > to.x;
  const isSame = from.x === to.x;
  const fromX = isRight ? from.x : from.x + BOX_WIDTH;
  const toX = isRight || isSame ? to.x + BOX_WIDTH : to.x;
  const bend = isSame ? 50 : Math.max(40, Math.abs(fromX - toX) / 2);
  const [one, two] = [fromX + (isRight ? -bend : bend), toX + (isRight || isSame ? bend : -bend)];
  return `M${fromX} ${fromY}C${one} ${fromY} ${two} ${toY} ${toX} ${toY}`;
}
