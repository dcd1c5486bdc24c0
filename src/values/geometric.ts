/**
 * Text of geometric types, which are held as PostgreSQL prints them (geo_ops.c): `(x,y)`, `{A,B,C}`, `[(x,y),(x,y)]`,
 * `(x,y),(x,y)`, `((x,y),…)` or `[(x,y),…]`, `<(x,y),r>`. Called by text-format.ts.
 */
import { sqlError } from "../protocol/errors.js";
import type { GeometricName } from "./values.js";

const NUMBER = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?inf(?:inity)?|nan`;

/** `read` and `print` are those of double precision. Throws 22P02. */
export function geometricFromText(
  type: GeometricName,
  text: string,
  read: (number: string) => number,
  print: (x: number) => string,
): string {
  const invalid = () => sqlError("22P02", `invalid input syntax for type ${type}: "${text}"`);
  const numbers = (text.match(new RegExp(NUMBER, "gi")) ?? []).map(read);
  // What is left without numbers and blanks is the shape of the brackets.
  const shape = text.replace(new RegExp(NUMBER, "gi"), "n").replace(/\s/g, "");
  const pairs = Array.from({ length: numbers.length >> 1 }, (_, i) => [numbers[2 * i]!, numbers[2 * i + 1]!] as const);
  const point = ([x, y]: readonly [number, number]) => `(${print(x)},${print(y)})`;
  const bare = shape.replace(/\(n,n\)/g, "n,n");
  const list = isList(shape);
  switch (type) {
    case "point":
      if (!/^(?:n,n|\(n,n\))$/.test(shape)) throw invalid();
      return point(pairs[0]!);
    case "line": {
      if (shape === "{n,n,n}") {
        if (numbers[0] === 0 && numbers[1] === 0) {
          throw sqlError("22P02", "invalid line specification: A and B cannot both be zero");
        }
        return `{${numbers.map(print).join(",")}}`;
      }
      if (!list || pairs.length !== 2 || numbers.length !== 4) throw invalid();
      return lineThrough(pairs[0]!, pairs[1]!, print);
    }
    case "lseg":
      if (!list || numbers.length !== 4) throw invalid();
      return `[${pairs.map(point).join(",")}]`;
    case "box": {
      if (!list || numbers.length !== 4 || shape.startsWith("[")) throw invalid();
      const [[x1, y1], [x2, y2]] = pairs as [readonly [number, number], readonly [number, number]];
      return `${point([Math.max(x1, x2), Math.max(y1, y2)])},${point([Math.min(x1, x2), Math.min(y1, y2)])}`;
    }
    case "path": {
      if (!list || numbers.length === 0) throw invalid();
      const inside = pairs.map(point).join(",");
      return shape.startsWith("[") ? `[${inside}]` : `(${inside})`;
    }
    case "polygon":
      if (!list || numbers.length === 0 || shape.startsWith("[")) throw invalid();
      return `(${pairs.map(point).join(",")})`;
    case "circle": {
      if (numbers.length !== 3 || !/^(?:<n,n,n>|\(n,n,n\)|n,n,n)$/.test(bare) || numbers[2]! < 0) throw invalid();
      return `<${point(pairs[0]!)},${print(numbers[2]!)}>`;
    }
  }
}

/** Points with or without parentheses and commas between them, in brackets or not (geo_ops.c, path_decode). */
function isList(shape: string): boolean {
  const isEnclosed = shape.startsWith("((") || (shape.startsWith("(") && shape.lastIndexOf("(") === 0);
  const around = isEnclosed ? /^\((.*)\)$/ : shape.startsWith("[") ? /^\[(.*)[\])]$/ : /^(.*)$/;
  const inside = around.exec(shape)?.[1];
  return inside !== undefined && /^(?:(?:n,n|\(n,n\)),?)+$/.test(inside);
}

/** Ax + By + C = 0. Throws 22P02 for equal points. */
function lineThrough(
  [x1, y1]: readonly [number, number],
  [x2, y2]: readonly [number, number],
  print: (x: number) => string,
): string {
  if (x1 === x2 && y1 === y2) {
    throw sqlError("22P02", "invalid line specification: must be two distinct points");
  }
  if (x1 === x2) return `{-1,0,${print(x1)}}`;
  if (y1 === y2) return `{0,-1,${print(y1)}}`;
  const slope = (y1 - y2) / (x1 - x2);
  return `{${print(slope)},-1,${print(y1 - slope * x1 + 0)}}`;
}
