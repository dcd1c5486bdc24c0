/** Bodies with vectors are read as JSON.parse reads them, or left to it. */
import fc from "fast-check";
import t from "tap";
import { parseVectorJson } from "../../src/vector/vector-json.js";

const read = (text: string): unknown => parseVectorJson(Buffer.from(text));

/** With lists under the names of vectors in single precision. */
function expected(value: unknown): unknown {
  const { vector, values, vectors, ...rest } = value as Record<string, unknown>;
  const single = (list: unknown) => (Array.isArray(list) ? Float32Array.from(list) : list);
  return {
    ...rest,
    ...(vector !== undefined && { vector: single(vector) }),
    ...(values !== undefined && { values: single(values) }),
    ...(vectors !== undefined && { vectors: (vectors as unknown[]).map(expected) }),
  };
}

t.test("what is plain", async (t) => {
  const texts = [
    '{"vector":[1,-2.5,0.1,1e-7,3E+5,-0,0.30000001192092896,123456789012345678901234567890],"k":3}',
    ' { "id" : "a\\"b]" , "values" : [ 1 , 2 ] , "metadata" : {"vector":[1,"x"],"b":"}"} } ',
    '{"vectors":[{"id":"ü","vector":[1]},{"id":"b","values":[],"metadata":null}],"filter":{"a":[1,{"b":"\\\\"}]}}',
    '{"vectors":[]}',
    '{"vector":"not a list","limit":1.5}',
    "{}",
  ];
  for (const text of texts) t.same(read(text), expected(JSON.parse(text)), text);
});

t.test("what is not is left to JSON.parse", async (t) => {
  const texts = [
    "",
    "[1]",
    '{"vector":[1,]}',
    '{"vector":[01]}',
    '{"vector":[1.]}',
    '{"vector":[.5]}',
    '{"vector":[+1]}',
    '{"vector":[-]}',
    '{"vector":[1e]}',
    '{"vector":[NaN]}',
    '{"vector":["1"]}',
    '{"vector":[[1]]}',
    '{"vector":[1 2]}',
    '{"vector":[1}',
    '{"vector":[1]',
    '{"vector":[1]}x',
    '{"vector":[1],}',
    '{"__proto__":{"vector":[1]}}',
    '{"a\\u0062":1}',
    '{"vectors":[1]}',
    '{"vectors":[{"id":tru}]}',
    '{"id":"a',
    '{"id":}',
    '{"id":1]}',
    `{"vector":[${new Array(16_001).fill(1).join()}]}`,
  ];
  for (const text of texts) t.equal(read(text), undefined, text.slice(0, 40));
});

t.test("numbers are those that JSON.parse and single precision make", async () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => JSON.stringify(x)),
    fc.float({ noNaN: true, noDefaultInfinity: true }).map((x) => JSON.stringify(x)),
    fc
      .tuple(fc.integer({ min: -9, max: 9 }), fc.stringMatching(/^\d{1,30}$/))
      .map(([whole, digits]) => `${whole}.${digits}`),
  );
  fc.assert(
    fc.property(fc.array(number, { maxLength: 20 }), (numbers) => {
      const { vector } = read(`{"vector":[${numbers.join()}]}`) as { vector: Float32Array };
      const wanted = Float32Array.from(numbers, (text) => JSON.parse(text) as number);
      return Buffer.from(vector.buffer).equals(Buffer.from(wanted.buffer));
    }),
    { numRuns: 500 },
  );
});

t.test("any JSON", async () => {
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[a-u]{1,5}$/), fc.jsonValue()), fc.jsonValue(), (body, filter) => {
      const text = JSON.stringify({ ...body, filter });
      return JSON.stringify(read(text)) === JSON.stringify(JSON.parse(text));
    }),
  );
});
