/**
 * How many candidates a walk through a graph must keep to find what is nearest. That depends on how many vectors there
 * are and how they lie, so it is measured: vectors of the graph are searched for as if they were not in it, and the
 * answers of walks with longer and longer lists are held against those of a comparison with all. What was found is part
 * of the graph's memory, so it is saved with it. Owned by the graph; the graph's owner takes the steps when nothing
 * else is to be done.
 */
import { type GraphModule, wordsAt } from "./graph-module.js";
import { EF_MAX } from "./graph-parameters.js";
import type { LongSearch } from "./long-search.js";
import type { Ranked } from "./rank-originals.js";

/** Walks keep so many at least: what is asked for may lie further from the vectors than they do from each other. */
export const EF_LEAST = 64;
/** Lengths of lists that are tried. A walk with the last takes some two milliseconds. */
const LADDER: readonly number[] = [16, 24, 32, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768];
/** Recall that is wanted: what is shown by a sample of SAMPLES may be .01 off. */
const RECALL = 0.96;
export const NEAREST = 10;
const SAMPLES = 100;
/** Fewer do not tell. */
const SAMPLES_MIN = 20;
/** Slots that are looked at for each sample: some are free, or have an equal vector elsewhere. */
const LOOKS = 4;
/** From so many vectors on. */
const COUNT_MIN = 1000;
/** What a graph that was never measured is reckoned to be like: so many vectors, for which EF_LEAST are enough. */
const EASY_COUNT = 50_000;
/** By what power of the vectors' number the list grows until it is measured again. */
const GROWTH = 0.7;
/** So many vectors are measured in the time that one candidate of a walk takes. */
const SCANNED_PER_CANDIDATE = 24;
/** In the place of a length: no walk is good enough, and measuring all is the way to find what is nearest. */
const ALL = 0xffffffff;

/** Of the words in the graph's memory. */
const LENGTH = 0;
const COUNT = 1;
const ADDED_THEN = 2;
/** Counted by the module. */
const ADDED = 3;
const WORDS = 4;

/** What a calibration needs of its graph. */
export interface Calibrated {
  count(): number;
  slotCount(): number;
  /** Searches may measure all vectors. */
  readonly mayMeasureAll: boolean;
  /** The vector of a node that no other is equal to; undefined: it is none. */
  sample(slot: number): Float32Array | undefined;
  longSearch(query: Float32Array): LongSearch;
  /** The nearest `k` but the slot itself: of all, and of what a walk that does not meet it finds. */
  nearestBeside(query: Float32Array, slot: number, k: number): readonly Ranked[];
  walkBeside(query: Float32Array, slot: number, ef: number, k: number): readonly Ranked[];
  /** The words in its memory change. */
  changes(): void;
}

interface Sample {
  readonly slot: number;
  readonly query: Float32Array;
  readonly search: LongSearch;
  /** How far away the last of the nearest is; null: that is still to be measured. */
  radius: number | null;
  /** The next of the ladder. */
  next: number;
  /** How many of the nearest each of the ladder has found. */
  readonly hits: number[];
}

interface Measurement {
  /** How many of the nearest each of the ladder has found. */
  readonly hits: number[];
  readonly lengths: readonly number[];
  random: number;
  looksLeft: number;
  samples: number;
  current: Sample | null;
  /** The slot of a sample that was interrupted: those that take long are interrupted most, and tell most. */
  again: number | null;
}

export class Calibration {
  private measurement: Measurement | null = null;

  constructor(
    private readonly graph: Calibrated,
    private readonly module: GraphModule,
  ) {}

  /** It was never measured, or most vectors came later. */
  get isDue(): boolean {
    if (this.graph.count() < COUNT_MIN) return false;
    const words = this.words();
    const since = (words[ADDED]! - words[ADDED_THEN]!) >>> 0;
    return words[LENGTH] === 0 || since >= Math.max(COUNT_MIN, words[COUNT]!);
  }

  /** How many candidates a search for `k` is to keep; infinite: all are to be measured. */
  lengthFor(k: number): number {
    const length = this.length();
    return length === ALL ? Number.POSITIVE_INFINITY : Math.min(EF_MAX, length + Math.max(0, k - NEAREST));
  }

  private length(): number {
    const count = this.graph.count();
    const words = this.words();
    const measured = words[LENGTH]!;
    if (measured === ALL) return ALL;
    const [length, then] = measured === 0 ? [EF_LEAST, EASY_COUNT] : [measured, words[COUNT]!];
    const grown = length * Math.max(1, count / then) ** GROWTH;
    return Math.max(EF_LEAST, Math.min(Math.ceil(grown), LADDER.at(-1)!));
  }

  /** Takes a step of a millisecond or two; after the last it is not due any more. */
  step(): void {
    this.measurement ??= this.begin();
    const { measurement } = this;
    measurement.current ??= this.nextSample(measurement);
    const { current } = measurement;
    if (current === null) {
      if (measurement.looksLeft === 0 || measurement.samples >= SAMPLES) this.end(measurement);
    } else if (current.radius === null) this.measureAll(measurement, current);
    else this.walk(measurement, current, current.radius);
  }

  /** The links are about to be others' to change: what was begun with the sample is begun again. */
  pause(): void {
    const { measurement } = this;
    if (measurement === null || measurement.current === null) return;
    measurement.current.search.close();
    measurement.again = measurement.current.slot;
    measurement.current = null;
    measurement.looksLeft++;
  }

  private begin(): Measurement {
    const count = this.graph.count();
    const lengths = LADDER.filter((ef) => ef * SCANNED_PER_CANDIDATE <= count || !this.graph.mayMeasureAll);
    return {
      hits: lengths.map(() => 0),
      lengths,
      random: count >>> 0,
      looksLeft: LOOKS * SAMPLES,
      samples: 0,
      current: null,
      again: null,
    };
  }

  private nextSample(measurement: Measurement): Sample | null {
    if (measurement.looksLeft === 0 || measurement.samples >= SAMPLES) return null;
    measurement.looksLeft--;
    const slot = measurement.again ?? this.randomSlot(measurement);
    measurement.again = null;
    const query = this.graph.sample(slot);
    return query === undefined
      ? null
      : { slot, query, search: this.graph.longSearch(query), radius: null, next: 0, hits: [] };
  }

  private randomSlot(measurement: Measurement): number {
    // Numerical Recipes' generator: the upper bits say which.
    measurement.random = (Math.imul(measurement.random, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((measurement.random / 2 ** 32) * this.graph.slotCount());
  }

  /** A part of it. */
  private measureAll(measurement: Measurement, sample: Sample): void {
    const { search, query, slot } = sample;
    const nearest = search.run(() => this.graph.nearestBeside(query, slot, NEAREST));
    if (nearest === null) search.step();
    else if (nearest.length < NEAREST) this.over(measurement, sample);
    else sample.radius = nearest.at(-1)!.distance;
  }

  private walk(measurement: Measurement, sample: Sample, radius: number): void {
    const { lengths, hits: all } = measurement;
    const { hits } = sample;
    const found = sample.search.run(() =>
      this.graph.walkBeside(sample.query, sample.slot, lengths[sample.next]!, NEAREST),
    );
    // It goes on reading in the next step.
    if (found === null) return;
    const near = found.filter(({ distance }) => distance <= radius).length;
    hits[sample.next++] = near;
    // Longer lists find them, too.
    if (near === NEAREST) while (sample.next < lengths.length) hits[sample.next++] = NEAREST;
    if (sample.next < lengths.length) return;
    for (const [i, count] of hits.entries()) all[i]! += count;
    measurement.samples++;
    this.over(measurement, sample);
  }

  private over(measurement: Measurement, sample: Sample): void {
    sample.search.close();
    measurement.current = null;
  }

  private end({ samples, hits, lengths }: Measurement): void {
    const enough = lengths.find((_, i) => hits[i]! >= RECALL * NEAREST * samples);
    const longest = this.graph.mayMeasureAll ? ALL : LADDER.at(-1)!;
    this.graph.changes();
    const words = this.words();
    words[LENGTH] = samples < SAMPLES_MIN ? EF_LEAST : (enough ?? longest);
    words[COUNT] = this.graph.count();
    words[ADDED_THEN] = words[ADDED]!;
    this.measurement = null;
  }

  private words(): Uint32Array {
    return wordsAt(this.module, this.module.calibrationAt(), WORDS);
  }
}
