/**
 * Learning of a network's weights by batches, in perceptron.wasm (vector/wasm/perceptron.ts): Adam (Kingma and Ba 2015)
 * with decoupled weight decay (Loshchilov and Hutter 2019). Called by network.ts.
 */
import { readFileSync } from "node:fs";
import { PROJECT } from "../../protocol/places.js";
import { sigmoid, softmaxRows } from "../tree/boosting.js";

interface PerceptronModule {
  readonly memory: { readonly buffer: ArrayBuffer };
  startAt(): number;
  makeRoom(bytes: number): number;
  forward(
    weights: number,
    inputs: number,
    outputs: number,
    rows: number,
    units: number,
    stride: number,
    outStride: number,
    rectified: boolean,
  ): void;
  slopes(
    gradients: number,
    inputs: number,
    deltas: number,
    rows: number,
    units: number,
    stride: number,
    deltaStride: number,
  ): void;
  backward(
    weights: number,
    inputs: number,
    deltas: number,
    before: number,
    rows: number,
    units: number,
    stride: number,
    deltaStride: number,
  ): void;
  update(
    weights: number,
    gradients: number,
    firsts: number,
    seconds: number,
    bytes: number,
    share: number,
    rate: number,
    decay: number,
    firstCorrection: number,
    secondCorrection: number,
  ): void;
}

/** A thread has one, which the trainer made last has to itself. */
let perceptron: PerceptronModule | null = null;

/** What goes into a layer, for the rows of a batch: addresses, and bytes of a row. */
interface Level {
  readonly values: number;
  readonly deltas: number;
  readonly stride: number;
}

/** Addresses of a layer's weights and of what is as large; `bytes` of each. */
interface Layer {
  readonly weights: number;
  readonly gradients: number;
  readonly firsts: number;
  readonly seconds: number;
  readonly bytes: number;
}

export interface TrainerOptions {
  /** 0: values. */
  readonly classes: number;
  readonly learningRate: number;
  readonly decay: number;
  /** Rows of a batch. */
  readonly batch: number;
}

export class Trainer {
  private readonly module: PerceptronModule;
  private readonly memory: Float32Array;
  private readonly levels: readonly Level[];
  private readonly layers: readonly Layer[];
  /** Of a batch, as doubles: what the last layer gives, then its derivatives. */
  private readonly last: Float64Array;
  private steps = 0;

  /** `weights`: of each layer those of each unit, its inputs' then its bias. Throws if memory does not suffice. */
  constructor(
    private readonly sizes: readonly number[],
    weights: readonly Float32Array[],
    private readonly options: TrainerOptions,
  ) {
    perceptron ??= new WebAssembly.Instance(
      new WebAssembly.Module(readFileSync(new URL("dist/src/vector/perceptron.wasm", PROJECT))),
    ).exports as PerceptronModule;
    this.module = perceptron;
    const start = perceptron.startAt();
    let end = start;
    const take = (bytes: number) => {
      end += bytes;
      return end - bytes;
    };
    const strides = sizes.map((size) => ((size + 1 + 3) & ~3) * 4);
    this.levels = strides.map((stride) => ({
      stride,
      values: take(stride * options.batch),
      deltas: take(stride * options.batch),
    }));
    this.layers = sizes.slice(1).map((units, layer) => {
      const bytes = units * strides[layer]!;
      const [weights, gradients, firsts, seconds] = [take(bytes), take(bytes), take(bytes), take(bytes)];
      return { weights, gradients, firsts, seconds, bytes };
    });
    if (perceptron.makeRoom(end - start) === 0) throw new RangeError(`a network of ${end - start} bytes is too large`);
    this.memory = new Float32Array(perceptron.memory.buffer);
    this.memory.fill(0, start / 4, end / 4);
    this.levels.forEach(({ values, stride }, level) => {
      for (let row = 0; row < options.batch; row++) this.memory[(values + row * stride) / 4 + sizes[level]!] = 1;
    });
    this.eachUnit((layer, at, from, length) => this.memory.set(weights[layer]!.subarray(from, from + length), at));
    this.last = new Float64Array(options.batch * sizes.at(-1)!);
  }

  /** Learns from rows of the matrix, at most a batch. */
  step(matrix: Float32Array, wanted: Float64Array, rows: Int32Array): void {
    const { module, levels, layers, sizes } = this;
    const count = rows.length;
    const width = sizes[0]!;
    const { values, stride } = levels[0]!;
    for (let i = 0; i < count; i++) {
      const from = rows[i]! * width;
      this.memory.set(matrix.subarray(from, from + width), (values + i * stride) / 4);
    }
    this.forward(count);
    this.lossAndDeltas(count, (row) => wanted[rows[row]!]!);
    for (let layer = layers.length - 1; layer >= 0; layer--) {
      const { weights, gradients } = layers[layer]!;
      const [inputs, outputs] = [levels[layer]!, levels[layer + 1]!];
      const units = sizes[layer + 1]!;
      module.slopes(gradients, inputs.values, outputs.deltas, count, units, inputs.stride, outputs.stride);
      if (layer === 0) break;
      const { deltas } = inputs;
      module.backward(weights, inputs.values, outputs.deltas, deltas, count, units, inputs.stride, outputs.stride);
    }
    this.update(count);
  }

  /** The mean loss over all rows of the matrix. */
  loss(matrix: Float32Array, wanted: Float64Array): number {
    const width = this.sizes[0]!;
    const { values, stride } = this.levels[0]!;
    let sum = 0;
    for (let from = 0; from < wanted.length; from += this.options.batch) {
      const count = Math.min(this.options.batch, wanted.length - from);
      for (let i = 0; i < count; i++) {
        const at = (from + i) * width;
        this.memory.set(matrix.subarray(at, at + width), (values + i * stride) / 4);
      }
      this.forward(count);
      sum += this.lossAndDeltas(count, (row) => wanted[from + row]!);
    }
    return sum / wanted.length;
  }

  /** As the constructor takes them. */
  weights(): Float32Array[] {
    const each = this.sizes.slice(1).map((units, layer) => new Float32Array(units * (this.sizes[layer]! + 1)));
    this.eachUnit((layer, at, from, length) => each[layer]!.set(this.memory.subarray(at, at + length), from));
    return each;
  }

  /** Where a unit's weights stand in memory, and where among those of its layer. */
  private eachUnit(visit: (layer: number, at: number, from: number, length: number) => void): void {
    this.layers.forEach(({ weights }, layer) => {
      const length = this.sizes[layer]! + 1;
      for (let unit = 0; unit < this.sizes[layer + 1]!; unit++) {
        visit(layer, (weights + unit * this.levels[layer]!.stride) / 4, unit * length, length);
      }
    });
  }

  private forward(count: number): void {
    this.layers.forEach(({ weights }, layer) => {
      const [inputs, outputs] = [this.levels[layer]!, this.levels[layer + 1]!];
      const isLast = layer === this.layers.length - 1;
      const units = this.sizes[layer + 1]!;
      this.module.forward(weights, inputs.values, outputs.values, count, units, inputs.stride, outputs.stride, !isLast);
    });
  }

  /** The sum of the rows' losses; their derivatives by what the last layer gives become its deltas. */
  private lossAndDeltas(count: number, wantedOf: (row: number) => number): number {
    const { memory, last } = this;
    const { classes } = this.options;
    const outputs = this.sizes.at(-1)!;
    const { values, deltas, stride } = this.levels.at(-1)!;
    for (let row = 0; row < count; row++) {
      const from = (values + row * stride) / 4;
      for (let k = 0; k < outputs; k++) last[row * outputs + k] = memory[from + k]!;
    }
    if (classes > 2) softmaxRows(last.subarray(0, count * outputs), outputs);
    let sum = 0;
    for (let row = 0; row < count; row++) {
      const wanted = wantedOf(row);
      const at = row * outputs;
      sum += classes > 2 ? lossOfClass(last, at, wanted) : lossOfOne(last, row, wanted, classes === 2);
      const to = (deltas + row * stride) / 4;
      for (let k = 0; k < outputs; k++) memory[to + k] = last[at + k]!;
    }
    return sum;
  }

  private update(rows: number): void {
    const { learningRate, decay } = this.options;
    this.steps++;
    const firstCorrection = 1 / (1 - 0.9 ** this.steps);
    const secondCorrection = 1 / (1 - 0.999 ** this.steps);
    for (const { weights, gradients, firsts, seconds, bytes } of this.layers) {
      this.module.update(
        weights,
        gradients,
        firsts,
        seconds,
        bytes,
        1 / rows,
        learningRate,
        decay,
        firstCorrection,
        secondCorrection,
      );
    }
  }
}

/** Cross-entropy of the probabilities at `at`, which become its derivatives. */
function lossOfClass(probabilities: Float64Array, at: number, wanted: number): number {
  const loss = -Math.log(Math.max(probabilities[at + wanted]!, 1e-300));
  probabilities[at + wanted]! -= 1;
  return loss;
}

/** Half the squared error, or the log-loss of the score of the second of two classes; it becomes its derivative. */
function lossOfOne(scores: Float64Array, row: number, wanted: number, isClass: boolean): number {
  const score = scores[row]!;
  if (isClass) {
    scores[row] = sigmoid(score) - wanted;
    return Math.log1p(Math.exp(-Math.abs(score))) + Math.max(score, 0) - score * wanted;
  }
  scores[row] = score - wanted;
  return 0.5 * (score - wanted) ** 2;
}
