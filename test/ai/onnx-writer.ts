/**
 * Writes ONNX graphs: the few messages of onnx.proto3 that a model for tests needs, as protocol buffers. Constant.
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3
 */

const FLOAT = 1;
const INT64 = 7;
const BOOL = 9;

export interface OnnxNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly integers?: Readonly<Record<string, number | readonly number[]>>;
}

export interface OnnxGraph {
  /** Integers of shape [batch, tokens], or floats (or truths) of that shape. */
  readonly inputs: readonly (string | OnnxInput)[];
  readonly constants: Readonly<Record<string, OnnxConstant>>;
  readonly nodes: readonly OnnxNode[];
  /** Name of the first output and its shape behind the batch: [batch, columns]. */
  readonly output: readonly [name: string, ...columns: (string | number)[]];
  /** Others like it. */
  readonly moreOutputs?: readonly (readonly [name: string, ...columns: (string | number)[]])[];
}

export interface OnnxInput {
  readonly name: string;
  readonly dims: readonly (string | number)[];
  readonly bool?: boolean;
}

export interface OnnxConstant {
  readonly dims: readonly number[];
  readonly values: Float32Array | BigInt64Array;
}

/** The bytes of a model. */
export function onnxModel({ inputs, constants, nodes, output, moreOutputs = [] }: OnnxGraph): Buffer {
  const graph = [
    ...nodes.map((node) => bytes(1, nodeOf(node))),
    text(2, "graph"),
    ...Object.entries(constants).map(([name, constant]) => bytes(5, tensorOf(name, constant))),
    ...inputs.map((input) =>
      bytes(
        11,
        typeof input === "string"
          ? valueInfo(input, INT64, ["batch", "tokens"])
          : valueInfo(input.name, input.bool === true ? BOOL : FLOAT, input.dims),
      ),
    ),
    ...[output, ...moreOutputs].map(([name, ...columns]) => bytes(12, valueInfo(name, FLOAT, ["batch", ...columns]))),
  ];
  return Buffer.concat([integer(1, 8), bytes(7, Buffer.concat(graph)), bytes(8, integer(2, 17))]);
}

function nodeOf({ op, inputs, output, integers = {} }: OnnxNode): Buffer {
  const attributes = Object.entries(integers).map(([name, value]) => {
    const content =
      typeof value === "number"
        ? [integer(3, value), integer(20, 2)]
        : [...value.map((one) => integer(8, one)), integer(20, 7)];
    return bytes(5, Buffer.concat([text(1, name), ...content]));
  });
  return Buffer.concat([...inputs.map((name) => text(1, name)), text(2, output), text(4, op), ...attributes]);
}

function tensorOf(name: string, { dims, values }: OnnxConstant): Buffer {
  const raw = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  const type = values instanceof Float32Array ? FLOAT : INT64;
  return Buffer.concat([...dims.map((size) => integer(1, size)), integer(2, type), text(8, name), bytes(9, raw)]);
}

function valueInfo(name: string, type: number, dims: readonly (string | number)[]): Buffer {
  const shape = dims.map((size) => bytes(1, typeof size === "string" ? text(2, size) : integer(1, size)));
  const tensor = Buffer.concat([integer(1, type), bytes(2, Buffer.concat(shape))]);
  return Buffer.concat([text(1, name), bytes(2, bytes(1, tensor))]);
}

function integer(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

function bytes(field: number, content: Buffer): Buffer {
  return Buffer.concat([varint(field * 8 + 2), varint(content.length), content]);
}

const text = (field: number, content: string): Buffer => bytes(field, Buffer.from(content));

function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    out.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Buffer.from([...out, rest]);
}
