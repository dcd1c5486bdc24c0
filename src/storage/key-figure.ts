/**
 * Points, boxes, polygons and circles in keys: by their cell of a grid (values/geometry-extent.ts), then the text. The
 * types have no order that statements know; only EXCLUDE constraints keep such entries. Used by key-codec.ts.
 */
import { type Cell, cellOf, extentOf, type FigureName } from "../values/geometry-extent.js";
import { KeyReader } from "./key-reader.js";
import { finishKey, startKey, writeByte, writeFloat64, writeInt16, writeText } from "./key-writer.js";

function writeCell({ level, x, y }: Cell): void {
  writeInt16(level);
  writeFloat64(x);
  writeFloat64(y);
}

export function writeFigure(name: FigureName, text: string): void {
  writeCell(cellOf(extentOf(name, text)));
  writeText(text);
}

function readCell(reader: KeyReader): Cell {
  return { level: reader.int16(), x: reader.float64(), y: reader.float64() };
}

export function readFigure(reader: KeyReader): string {
  readCell(reader);
  return reader.text();
}

/** Where the entries of a cell begin. `group`: what stands before the figure; `marker`: of a value that is no NULL. */
export function cellKey(group: Uint8Array, marker: number, cell: Cell): Buffer {
  startKey(group);
  writeByte(marker);
  writeCell(cell);
  return finishKey();
}

/** The cell of an entry; null: the figure is NULL. */
export function cellOfKey(key: Uint8Array, group: Uint8Array, marker: number): Cell | null {
  const reader = new KeyReader(key, group.length);
  return reader.byte() === marker ? readCell(reader) : null;
}
