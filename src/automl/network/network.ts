/**
 * A small multilayer perceptron: rectified units (Glorot et al. 2011), weights started as He et al. 2015, early
 * stopping on a tenth of its own training rows. Called by model/learners.ts; no state.
 */
import { type Scaling, scalingOf, standardised } from "../linear/standardise.js";
import type { ArraySink, FittedModel, Sample, SavedModel, StoredArray } from "../model/learner.js";
import { outputsOf } from "../model/learner.js";
import { sigmoid, softmaxRows } from "../tree/boosting.js";
import { Trainer } from "./trainer.js";

export interface NetworkParameters {
  /** Units of each hidden layer. */
  readonly hidden: readonly number[];
  readonly learningRate: number;
  readonly decay: number;
  readonly batch: number;
  readonly epochs: number;
  readonly patience: number;
  /** Rows to learn from, at most. */
  readonly rowsMax: number;
}

/** Layer l: weights of each unit in a row (its inputs, then its bias). */
interface Layers {
  readonly sizes: readonly number[];
  readonly weights: readonly Float32Array[];
}

export function fitNetwork(sample: Sample, parameters: NetworkParameters): FittedModel {
  const { target, classes, random } = sample;
  const drawn = random.shuffle(sample.train.slice()).subarray(0, parameters.rowsMax);
  const held = Math.max(1, Math.floor(drawn.length / 10));
  const kept = drawn.length > 20 ? drawn.subarray(held) : drawn;
  const check = drawn.length > 20 ? drawn.subarray(0, held) : drawn;
  const { columns } = sample.inputs;
  const scaling = scalingOf(columns, kept);
  const { mean, deviation } = classes === 0 ? scaleOfTarget(target, kept) : { mean: 0, deviation: 1 };
  const wanted = (rows: Int32Array) => Float64Array.from(rows, (row) => (target[row]! - mean) / deviation);
  const outputs = outputsOf(classes);
  const layers = start([columns.length, ...parameters.hidden, outputs], random);
  const trainer = new Trainer(layers.sizes, layers.weights, { ...parameters, classes });
  const inputs = standardised(columns, kept, scaling);
  const checkInputs = standardised(columns, check, scaling);
  const wantedKept = wanted(kept);
  const wantedCheck = wanted(check);
  const order = Int32Array.from({ length: kept.length }, (_, i) => i);
  let best = Number.POSITIVE_INFINITY;
  let bestWeights: readonly Float32Array[] = layers.weights;
  let waited = 0;
  for (let epoch = 0; epoch < parameters.epochs && waited < parameters.patience; epoch++) {
    random.shuffle(order);
    for (let from = 0; from < order.length; from += parameters.batch) {
      sample.checkStop();
      trainer.step(inputs, wantedKept, order.subarray(from, from + parameters.batch));
    }
    const loss = trainer.loss(checkInputs, wantedCheck);
    if (loss < best - 1e-6) {
      best = loss;
      bestWeights = trainer.weights();
      waited = 0;
    } else waited++;
  }
  return new Network(classes, scaling, { sizes: layers.sizes, weights: bestWeights }, mean, deviation);
}

function scaleOfTarget(target: Float64Array, rows: Int32Array): { mean: number; deviation: number } {
  const { means, factors } = scalingOf(
    [Float32Array.from(rows, (row) => target[row]!)],
    Int32Array.from(rows, (_, i) => i),
  );
  return { mean: means[0]!, deviation: factors[0] === 0 ? 1 : 1 / factors[0]! };
}

function start(sizes: readonly number[], random: Sample["random"]): Layers {
  const weights = sizes.slice(1).map((units, layer) => {
    const inputs = sizes[layer]!;
    const spread = Math.sqrt(2 / Math.max(1, inputs));
    const each = new Float32Array(units * (inputs + 1));
    for (let i = 0; i < each.length; i++) each[i] = i % (inputs + 1) === inputs ? 0 : spread * random.normal();
    return each;
  });
  return { sizes, weights };
}

/** Activations of all layers for one row of `matrix`; the last layer has no rectifier. */
function forward(
  { sizes, weights }: Layers,
  matrix: Float32Array,
  at: number,
  activations: readonly Float64Array[],
): void {
  const first = activations[0]!;
  for (let i = 0; i < first.length; i++) first[i] = matrix[at + i]!;
  for (let layer = 0; layer < weights.length; layer++) {
    const inputs = activations[layer]!;
    const outputs = activations[layer + 1]!;
    const each = weights[layer]!;
    const width = sizes[layer]!;
    const last = layer === weights.length - 1;
    for (let unit = 0; unit < outputs.length; unit++) {
      const from = unit * (width + 1);
      let sum = each[from + width]!;
      for (let i = 0; i < width; i++) sum += each[from + i]! * inputs[i]!;
      outputs[unit] = last || sum > 0 ? sum : 0;
    }
  }
}

class Network implements FittedModel {
  constructor(
    private readonly classes: number,
    private readonly scaling: Scaling,
    private readonly layers: Layers,
    private readonly mean: number,
    private readonly deviation: number,
  ) {}

  predict(columns: readonly Float32Array[], rows: Int32Array): Float64Array {
    const outputs = outputsOf(this.classes);
    const width = this.scaling.means.length;
    const matrix = standardised(columns, rows, this.scaling);
    const activations = this.layers.sizes.map((size) => new Float64Array(size));
    const last = activations[activations.length - 1]!;
    const result = new Float64Array(rows.length * outputs);
    for (let row = 0; row < rows.length; row++) {
      forward(this.layers, matrix, row * width, activations);
      for (let k = 0; k < outputs; k++) result[row * outputs + k] = last[k]! * this.deviation + this.mean;
    }
    if (this.classes === 2) for (let i = 0; i < result.length; i++) result[i] = sigmoid(result[i]!);
    if (this.classes > 2) softmaxRows(result, outputs);
    return result;
  }

  explain(): null {
    return null;
  }

  save(sink: ArraySink): SavedModel {
    const { classes, mean, deviation } = this;
    const { sizes, weights } = this.layers;
    const scaling = [this.scaling.means, this.scaling.factors].map((array) => sink.add(array));
    return {
      kind: "network",
      classes,
      mean,
      deviation,
      sizes,
      scaling,
      weights: weights.map((each) => sink.add(each)),
    };
  }
}

interface SavedNetwork {
  readonly classes: number;
  readonly mean: number;
  readonly deviation: number;
  readonly sizes: readonly number[];
  readonly scaling: readonly [number, number];
  readonly weights: readonly number[];
}

export function loadNetwork(saved: SavedModel, arrays: readonly StoredArray[]): FittedModel {
  const { classes, mean, deviation, sizes, scaling, weights } = saved as unknown as SavedNetwork;
  const [means, factors] = scaling.map((number) => arrays[number] as Float64Array);
  const layers = { sizes, weights: weights.map((number) => arrays[number] as Float32Array) };
  return new Network(classes, { means: means!, factors: factors! }, layers, mean, deviation);
}
