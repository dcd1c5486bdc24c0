/** Cypher's vectors against the numbers they are made of. */
import t from "tap";
import { beginStretch, endStretch, Overrun } from "../../src/protocol/stretch.js";
import { VECTOR_FUNCTIONS } from "../../src/query/expr/cypher/vector-functions.js";
import { measured, unitsOf } from "../../src/query/expr/work.js";
import {
  COORDINATE_TYPES,
  type CoordinateType,
  compareCypherVectors,
  coordinatesOf,
  cypherVectorKey,
  doublesOf,
  vectorOfBytes,
  vectorOfNumbers,
} from "../../src/values/cypher-vector.js";
import { costLeft } from "../../src/values/value-cost.js";

/** What the type tells apart, and what it nearly does not. */
const NUMBERS: Readonly<Record<CoordinateType, readonly (number | bigint)[]>> = {
  INTEGER8: [-128, -1, 0, 1, 127],
  INTEGER16: [-32768, -256, -1, 0, 255, 256, 32767],
  INTEGER32: [-2147483648, -65536, -1, 0, 1, 2147483647],
  INTEGER: [
    -(2n ** 63n),
    -(2n ** 53n) - 1n,
    -(2n ** 53n),
    -1n,
    0n,
    2n ** 32n,
    2n ** 53n,
    2n ** 53n + 1n,
    2n ** 63n - 1n,
  ],
  FLOAT32: [-3.4e38, -1.5, -0, 0, 1.401298464324817e-45, 1.5, 3.4e38],
  FLOAT: [-1e308, -1.5, -5e-324, -0, 0, 5e-324, 1.5, 1.7976931348623157e308],
};

const orderOf = (a: number | bigint, b: number | bigint): number => (a < b ? -1 : a > b ? 1 : 0);

t.test("coordinates, doubles, order and keys", async (t) => {
  for (const type of COORDINATE_TYPES) {
    const numbers = NUMBERS[type];
    const all = vectorOfNumbers(type, numbers);
    const coordinates = coordinatesOf(all);
    t.strictSame(vectorOfBytes(type, all.bytes), all, type);
    t.strictSame([...doublesOf(all)], coordinates.map(Number), `${type} as doubles`);
    const wrong: string[] = [];
    for (const a of coordinates) {
      for (const b of coordinates) {
        // The coordinate that decides lies behind zeros of two signs.
        const [x, y] = [vectorOfNumbers(type, [1, 0, a]), vectorOfNumbers(type, [1, -0, b])];
        const order = orderOf(a, b);
        if (compareCypherVectors(x, y) !== order) wrong.push(`order of ${a} and ${b}`);
        if ((cypherVectorKey(x) === cypherVectorKey(y)) !== (order === 0)) wrong.push(`keys of ${a} and ${b}`);
      }
    }
    t.strictSame(wrong, [], type);
  }
});

t.test("work on vectors counts", async (t) => {
  const vector = vectorOfNumbers(
    "INTEGER8",
    Array.from({ length: 4096 }, (_, i) => i % 100),
  );
  t.equal(unitsOf(vector), 4096);
  t.equal(costLeft(vector, 5000), 5000 - 4097, "it is written as a list");
  const cosine = measured(VECTOR_FUNCTIONS.find(({ name }) => name === "vector.similarity.cosine")!);
  beginStretch(performance.now());
  try {
    const many = () => {
      for (let i = 0; i < 20_000; i++) cosine(vector, vector);
    };
    t.throws(many, Overrun, "a stretch that goes on for long ends");
  } finally {
    endStretch();
  }
});
