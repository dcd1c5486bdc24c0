/**
 * Gives vectors places on a plane, as a task for a thread of its own (workers/task.ts): a hundred thousand vectors of
 * 384 dimensions take some seconds of computing. First the vectors are reduced to the directions in which they differ
 * most. By neighbours, UMAP then places landmarks, a sample of the vectors, and every other vector goes among the
 * landmarks that are nearest to it. Each answer follows from the vectors alone.
 */
import { UMAP } from "umap-js";
import { randomFrom } from "../../values/random-from.js";
import { principalComponents } from "./principal-components.js";

export type MapMethod = "neighbours" | "principal";

export interface MapJob {
  /** Vectors one after another, in parts of whole vectors: each number is its code times the vector's scale. */
  readonly codes: readonly Int8Array<ArrayBuffer>[];
  readonly scales: readonly Float32Array<ArrayBuffer>[];
  readonly dimensions: number;
  /** Only the direction of a vector counts, not its length. */
  readonly byDirection: boolean;
  readonly method: MapMethod;
}

/** JSON lists of as many numbers as there are vectors, from −1 to 1. */
export interface VectorMap {
  readonly x: string;
  readonly y: string;
}

const SEED = 42;
/** Numbers of a sample from which the directions are taken. */
const SAMPLE_NUMBERS = 2_000_000;
const SAMPLE_MIN = 200;
/** UMAP takes about a second for a thousand. */
const LANDMARKS_MAX = 2_000;
/** With fewer vectors there are hardly neighbourhoods. */
const LANDMARKS_MIN = 30;
const REDUCED_DIMENSIONS = 20;
const NEIGHBOURS = 15;
const EPOCHS = 200;
/** Landmarks among which a vector goes. */
const PLACED_BY = 4;

export function mapVectors(job: MapJob): VectorMap {
  const vectors = numbersOf(job);
  const random = randomFrom(SEED);
  const isPlain = job.method === "principal" || vectors.length / job.dimensions < LANDMARKS_MIN;
  const size = isPlain ? 2 : REDUCED_DIMENSIONS;
  const { points, dimensions } = reduced(vectors, job.dimensions, size, random);
  return writtenPlaces(isPlain ? planeOf(points, dimensions) : byNeighbours(points, dimensions, random));
}

interface Vectors {
  readonly length: number;
  /** Copies a vector's numbers. */
  copy(index: number, into: Float32Array, at: number): void;
}

function numbersOf({ codes, scales, dimensions, byDirection }: MapJob): Vectors {
  const partRows = (codes[0]?.length ?? 0) / dimensions;
  // The places follow from proportions alone. Squares of large numbers would be infinite, and those of small ones zero.
  let largest = 0;
  for (const part of scales) for (const scale of part) largest = Math.max(largest, scale);
  const unit = largest === 0 ? 0 : 1 / largest;
  return {
    length: codes.reduce((sum, part) => sum + part.length, 0),
    copy(index, into, at) {
      const part = Math.floor(index / partRows);
      const row = index - part * partRows;
      const from = row * dimensions;
      const numbers = codes[part]!;
      let scale = scales[part]![row]! * unit;
      if (byDirection) {
        let sum = 0;
        for (let d = 0; d < dimensions; d++) sum += numbers[from + d]! * numbers[from + d]!;
        scale = sum === 0 ? 0 : 1 / Math.sqrt(sum);
      }
      for (let d = 0; d < dimensions; d++) into[at + d] = numbers[from + d]! * scale;
    },
  };
}

interface Reduced {
  readonly points: Float32Array;
  readonly dimensions: number;
}

function reduced(vectors: Vectors, dimensions: number, size: number, random: () => number): Reduced {
  const count = vectors.length / dimensions;
  const sampled = sample(count, Math.max(SAMPLE_MIN, Math.floor(SAMPLE_NUMBERS / dimensions)), random);
  const rows = new Float32Array(sampled.length * dimensions);
  for (const [i, index] of sampled.entries()) vectors.copy(index, rows, i * dimensions);
  const { mean, directions } = principalComponents(rows, dimensions, size, random);
  const points = new Float32Array(count * directions.length);
  const one = new Float32Array(dimensions);
  for (let i = 0; i < count; i++) {
    vectors.copy(i, one, 0);
    for (let d = 0; d < dimensions; d++) one[d]! -= mean[d]!;
    for (let k = 0; k < directions.length; k++) {
      const direction = directions[k]!;
      let product = 0;
      for (let d = 0; d < dimensions; d++) product += one[d]! * direction[d]!;
      points[i * directions.length + k] = product;
    }
  }
  return { points, dimensions: directions.length };
}

/** Of so many, spread over all of them. */
function sample(count: number, wanted: number, random: () => number): readonly number[] {
  if (count <= wanted) return Array.from({ length: count }, (_, i) => i);
  const step = count / wanted;
  return Array.from({ length: wanted }, (_, i) => Math.min(count - 1, Math.floor((i + random()) * step)));
}

/** Two numbers each. */
type Places = Float32Array;

function planeOf(points: Float32Array, dimensions: number): Places {
  const count = points.length / dimensions;
  const places = new Float32Array(count * 2);
  for (let i = 0; i < count; i++) {
    places[i * 2] = points[i * dimensions]!;
    if (dimensions > 1) places[i * 2 + 1] = points[i * dimensions + 1]!;
  }
  return places;
}

function byNeighbours(points: Float32Array, dimensions: number, random: () => number): Places {
  const count = points.length / dimensions;
  const landmarks = sample(count, LANDMARKS_MAX, random);
  const rows = landmarks.map((index) => Array.from(points.subarray(index * dimensions, (index + 1) * dimensions)));
  const umap = new UMAP({ nComponents: 2, nNeighbors: NEIGHBOURS, minDist: 0.1, nEpochs: EPOCHS, random });
  const placed = Float32Array.from(umap.fit(rows).flat());
  if (landmarks.length === count) return placed;
  const known = Float32Array.from(rows.flat());
  const places = new Float32Array(count * 2);
  const nearest = new NearestLandmarks(known, dimensions);
  for (let i = 0; i < count; i++) nearest.place(points, i, placed, places, random);
  return places;
}

/** Places a vector among its nearest landmarks. */
class NearestLandmarks {
  private readonly ids = new Int32Array(PLACED_BY);
  private readonly distances = new Float64Array(PLACED_BY);
  private readonly count: number;

  constructor(
    private readonly known: Float32Array,
    private readonly dimensions: number,
  ) {
    this.count = known.length / dimensions;
  }

  place(points: Float32Array, index: number, placed: Places, places: Places, random: () => number): void {
    this.find(points, index * this.dimensions);
    const { ids, distances } = this;
    const nearest = Math.sqrt(distances[0]!);
    const reach = Math.max(Math.sqrt(distances[PLACED_BY - 1]!) - nearest, 1e-9);
    let [x, y, sum, spread] = [0, 0, 0, 0];
    const [firstX, firstY] = [placed[ids[0]! * 2]!, placed[ids[0]! * 2 + 1]!];
    for (let k = 0; k < PLACED_BY; k++) {
      const weight = Math.exp((-2 * (Math.sqrt(distances[k]!) - nearest)) / reach);
      const [toX, toY] = [placed[ids[k]! * 2]!, placed[ids[k]! * 2 + 1]!];
      // One that the plan has put elsewhere would draw the vector into the void between.
      const share = weight / (1 + (toX - firstX) ** 2 + (toY - firstY) ** 2);
      x += share * toX;
      y += share * toY;
      sum += share;
      spread += share * Math.hypot(toX - firstX, toY - firstY);
    }
    // Vectors of the same landmarks do not stand on one line.
    const angle = random() * 2 * Math.PI;
    const away = (random() * Math.min(spread / sum + 0.05, 0.5)) / 1.5;
    places[index * 2] = x / sum + Math.cos(angle) * away;
    places[index * 2 + 1] = y / sum + Math.sin(angle) * away;
  }

  private find(points: Float32Array, from: number): void {
    const { ids, distances, known, dimensions } = this;
    distances.fill(Number.POSITIVE_INFINITY);
    for (let l = 0; l < this.count; l++) {
      const at = l * dimensions;
      const most = distances[PLACED_BY - 1]!;
      let distance = 0;
      for (let d = 0; d < dimensions && distance < most; d++) {
        const difference = points[from + d]! - known[at + d]!;
        distance += difference * difference;
      }
      if (distance >= most) continue;
      let k = PLACED_BY - 1;
      for (; k > 0 && distances[k - 1]! > distance; k--) {
        distances[k] = distances[k - 1]!;
        ids[k] = ids[k - 1]!;
      }
      distances[k] = distance;
      ids[k] = l;
    }
  }
}

/** With one scale for both axes, so that distances keep their proportions. */
function writtenPlaces(places: Places): VectorMap {
  const bounds = (axis: number): readonly [middle: number, half: number] => {
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let i = axis; i < places.length; i += 2) {
      least = Math.min(least, places[i]!);
      most = Math.max(most, places[i]!);
    }
    return places.length === 0 ? [0, 1] : [(least + most) / 2, (most - least) / 2];
  };
  const [xMiddle, xHalf] = bounds(0);
  const [yMiddle, yHalf] = bounds(1);
  const half = Math.max(xHalf, yHalf) || 1;
  const written = (axis: number, middle: number): string => {
    const texts: string[] = [];
    for (let i = axis; i < places.length; i += 2)
      texts.push(String(Math.round(((places[i]! - middle) / half) * 1e4) / 1e4));
    return `[${texts.join(",")}]`;
  };
  return { x: written(0, xMiddle), y: written(1, yMiddle) };
}
