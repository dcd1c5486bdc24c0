/**
 * Tables by seed that are like well-known public ones in their columns and in what is hard about them; their rows are
 * made here. Each has noise, so that no model can be perfect.
 */
import type { ColumnData, TrainJob } from "../../src/automl/contract.js";
import { Random } from "../../src/automl/random.js";

export interface BenchTable {
  readonly name: string;
  /** What it is like, and what is hard about it. */
  readonly like: string;
  readonly columns: readonly ColumnData[];
  readonly target: string;
  readonly asked: Partial<TrainJob>;
}

type Cell = number | string | null;
type Row = Readonly<Record<string, Cell>>;

const HOUR_MS = 3_600_000;

function table(
  rows: number,
  seed: number,
  name: string,
  row: (random: Random, at: number) => Row,
  times: readonly string[] = [],
): ColumnData[] {
  const random = new Random(seed, name);
  const cells = Array.from({ length: rows }, (_, at) => row(random, at));
  return Object.keys(cells[0]!).map((column): ColumnData => {
    const values = cells.map((each) => each[column]!);
    if (values.some((value) => typeof value === "string"))
      return { name: column, kind: "text", values: values as (string | null)[] };
    const numbers = Float64Array.from(values, (value) => (value === null ? Number.NaN : (value as number)));
    return { name: column, kind: times.includes(column) ? "timestamp" : "number", values: numbers };
  });
}

const chance = (random: Random, odds: number) => random.next() < 1 / (1 + Math.exp(-odds));

function income(random: Random): Row {
  const age = Math.round(random.between(17, 85));
  const years = Math.max(1, Math.min(16, Math.round(10 + 2.5 * random.normal())));
  const work = random.pick(["private", "private", "private", "self", "state", "federal"]);
  const marital = random.pick(["married", "married", "single", "divorced", "widowed"]);
  const job = random.pick([
    "clerical",
    "craft",
    "executive",
    "farming",
    "machines",
    "other",
    "sales",
    "service",
    "professional",
    "technical",
    "transport",
    "cleaning",
    "protective",
    "army",
  ]);
  const hours = Math.max(5, Math.round(40 + 11 * random.normal()));
  const gain = random.next() < 0.08 ? Math.round(Math.exp(8 + random.normal())) : 0;
  const skilled = ["executive", "professional", "technical"].includes(job);
  const odds =
    -3.6 +
    (marital === "married" ? 2.1 : 0) +
    0.32 * (years - 10) +
    (skilled ? 0.9 : 0) -
    ((age - 48) / 17) ** 2 +
    1 +
    (hours > 45 ? 0.6 : 0) +
    (gain > 5000 ? 3 : 0) +
    (marital === "married" && skilled ? 0.7 : 0) +
    (work === "federal" ? 0.4 : 0);
  return {
    age,
    years,
    work: random.next() < 0.05 ? null : work,
    marital,
    job,
    hours,
    gain,
    weight: Math.round(190_000 + 60_000 * random.normal()),
    income: chance(random, odds) ? ">50K" : "<=50K",
  };
}

function churn(random: Random, at: number): Row {
  const months = Math.floor(random.between(0, 72));
  const contract = random.pick(["monthly", "monthly", "year", "two years"]);
  const net = random.pick(["fibre", "fibre", "dsl", "none"]);
  const monthly = net === "none" ? 20 + 5 * random.next() : (net === "fibre" ? 75 : 50) + 18 * random.normal();
  const calls = Math.floor(-Math.log(1 - random.next()) * 1.5);
  const odds =
    -2.2 +
    (contract === "monthly" ? 1.4 : contract === "year" ? -0.5 : -2) -
    months / 28 +
    (net === "fibre" ? 0.8 : 0) +
    0.55 * Math.max(0, calls - 2) +
    (months < 6 && contract === "monthly" ? 0.9 : 0);
  return {
    id: `c-${at}`,
    months,
    contract,
    net,
    monthly: random.next() < 0.04 ? null : Math.round(monthly * 100) / 100,
    calls,
    paperless: random.pick(["yes", "no"]),
    pay: random.pick(["card", "bank", "check"]),
    churned: chance(random, odds) ? "yes" : "no",
  };
}

function moons(random: Random): Row {
  const which = random.below(3);
  const angle = Math.PI * random.next();
  const [x, y] =
    which === 0
      ? [Math.cos(angle), Math.sin(angle)]
      : which === 1
        ? [1 - Math.cos(angle), 0.5 - Math.sin(angle)]
        : [0.5 + 0.25 * random.normal(), 0.25 + 0.2 * random.normal()];
  return { x: x + 0.12 * random.normal(), y: y + 0.12 * random.normal(), shape: ["upper", "lower", "middle"][which]! };
}

function housing(random: Random): Row {
  const area = Math.round(Math.exp(4.6 + 0.4 * random.normal()));
  const rooms = Math.max(1, Math.round(area / 28 + 0.7 * random.normal()));
  const year = Math.round(random.between(1900, 2024));
  const [east, north] = [random.between(-10, 10), random.between(-10, 10)];
  const quarter = `q${Math.floor((east + 10) / 4)}${Math.floor((north + 10) / 4)}`;
  const state = random.pick(["new", "good", "fair", "poor"]);
  const away = Math.sqrt(east ** 2 + north ** 2);
  const price =
    area *
    (5200 - 260 * away + (year > 2000 ? 700 : year < 1920 ? 400 : 0)) *
    { new: 1.15, good: 1, fair: 0.88, poor: 0.7 }[state as "new"]! *
    Math.exp(0.1 * random.normal());
  return {
    area,
    rooms,
    year: random.next() < 0.06 ? null : year,
    east,
    north,
    quarter,
    state,
    lift: random.pick(["yes", "no"]),
    price: Math.round(Math.max(price, area * 500)),
  };
}

function bikes(random: Random, at: number): Row {
  const moment = Date.UTC(2022, 0, 1) + at * HOUR_MS;
  const date = new Date(moment);
  const hour = date.getUTCHours();
  const free = [0, 6].includes(date.getUTCDay());
  const season = Math.cos((2 * Math.PI * (at / 24 - 200)) / 365.25);
  const temperature = 12 + 11 * season + 4 * Math.sin((2 * Math.PI * (hour - 9)) / 24) + 2.5 * random.normal();
  const rain = random.next() < 0.12 ? -2 * Math.log(1 - random.next()) : 0;
  const peak = (around: number, width: number) => Math.exp(-(((hour - around) / width) ** 2));
  const rush = free ? 160 * peak(14, 4) : 260 * peak(8, 1.3) + 300 * peak(17.5, 1.8) + 60 * peak(13, 3);
  const count = (15 + rush) * Math.max(0.25, 0.55 + temperature / 35) * Math.exp(-0.35 * rain) * (1 + at / 30_000);
  return {
    at: moment,
    temperature,
    rain,
    wind: Math.abs(8 + 5 * random.normal()),
    rentals: Math.max(0, Math.round(count * Math.exp(0.18 * random.normal()))),
  };
}

function clicks(random: Random): Row {
  // Ids by a power law; each has a taste of its own.
  const id = (many: number) => Math.floor(many * random.next() ** 3);
  const taste = (key: number, salt: number) => Math.sin(key * 12.9898 + salt * 78.233) * 1.4;
  const [site, campaign, device] = [id(3000), id(800), id(150)];
  const hour = random.below(24);
  const odds = -1.2 + taste(site, 1) + taste(campaign, 2) + 0.5 * taste(device, 3) + (hour > 18 ? 0.4 : 0);
  return {
    site: `s${site}`,
    campaign: `a${campaign}`,
    device: `d${device}`,
    hour,
    position: random.below(6),
    clicked: chance(random, odds) ? 1 : 0,
  };
}

/** Strokes of seven segments, moved and blurred, on 8 × 8 pixels. */
const SEGMENTS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"];
const LINES: Readonly<Record<string, readonly [number, number, number, number]>> = {
  a: [2, 1, 5, 1],
  b: [5, 1, 5, 4],
  c: [5, 4, 5, 7],
  d: [2, 7, 5, 7],
  e: [2, 4, 2, 7],
  f: [2, 1, 2, 4],
  g: [2, 4, 5, 4],
};

function digits(random: Random): Row {
  const digit = random.below(10);
  const pixels = new Float64Array(64);
  const [dx, dy, slant] = [random.between(-1, 1), random.between(-0.8, 0.8), random.between(-0.15, 0.25)];
  for (const segment of SEGMENTS[digit]!) {
    const [x0, y0, x1, y1] = LINES[segment]!;
    for (let step = 0; step <= 12; step++) {
      const y = y0 + ((y1 - y0) * step) / 12 + dy;
      const x = x0 + ((x1 - x0) * step) / 12 + dx + slant * (4 - y);
      for (let px = Math.max(0, Math.floor(x - 1)); px <= Math.min(7, Math.ceil(x + 1)); px++) {
        for (let py = Math.max(0, Math.floor(y - 1)); py <= Math.min(7, Math.ceil(y + 1)); py++)
          pixels[8 * py + px]! += 3 * Math.exp(-2.5 * ((px - x) ** 2 + (py - y) ** 2));
      }
    }
  }
  const row: Record<string, Cell> = {};
  pixels.forEach((value, i) => {
    row[`p${i}`] = Math.max(0, Math.min(16, Math.round(value + 1.5 * random.normal())));
  });
  return { ...row, digit: `digit ${digit}` };
}

function visits(random: Random, at: number): Row {
  const day = new Date(Date.UTC(2021, 0, 1) + at * 24 * HOUR_MS);
  const week = [0.75, 1.1, 1.15, 1.12, 1.08, 1, 0.8][day.getUTCDay()]!;
  const year = 1 + 0.25 * Math.sin((2 * Math.PI * (at - 80)) / 365.25);
  return { day: day.getTime(), visits: Math.round((900 + 0.6 * at) * week * year * Math.exp(0.05 * random.normal())) };
}

/** `rows`: of each table but the series, which are as long as three years of days. */
export function benchTables(rows: number): BenchTable[] {
  const made = (
    name: string,
    like: string,
    target: string,
    row: (random: Random, at: number) => Row,
    asked: Partial<TrainJob> = {},
    times: string[] = [],
  ): BenchTable => ({ name, like, columns: table(rows, 1, name, row, times), target, asked });
  return [
    made("income", "Adult: labels and numbers, who earns more", "income", income),
    made("churn", "Telco churn: few leave, values are missing", "churned", churn),
    made("moons", "two moons and a blob: no line parts them", "shape", moons),
    made("housing", "Ames, California: prices by place and state", "price", housing),
    made("bikes", "bike sharing: rentals by hour, validated in order", "rentals", bikes, { timeColumn: "at" }, ["at"]),
    made("clicks", "Avazu: thousands of labels, seldom clicked", "clicked", clicks),
    made("digits", "optical digits: ten classes of 64 pixels", "digit", digits),
    {
      name: "visits",
      like: "a site's daily visits: week, year and trend",
      columns: table(1096, 1, "visits", visits, ["day"]),
      target: "visits",
      asked: { task: "forecasting", timeColumn: "day", horizon: 28 },
    },
  ];
}

/** Two classes that follow from ten of the columns: 40 numbers (a tenth missing in five) and 10 labels. */
export function wideTable(rows: number): ColumnData[] {
  const random = new Random(1, "wide");
  const numbers = Array.from({ length: 40 }, () => Float64Array.from({ length: rows }, () => random.normal()));
  const labels = Array.from({ length: 10 }, (_, i) =>
    Array.from({ length: rows }, () => random.below(i < 5 ? 6 : 300)),
  );
  const answer = Array.from({ length: rows }, (_, row) => {
    const x = (i: number) => numbers[i]![row]!;
    const odds =
      x(0) * x(1) +
      Math.sin(2 * x(2)) +
      (x(3) > 0.5 ? 1 : 0) -
      Math.abs(x(4)) +
      0.5 * (labels[0]![row]! % 3) +
      1.2 * Math.sin(labels[5]![row]!);
    return chance(random, 1.5 * odds) ? "yes" : "no";
  });
  for (let i = 0; i < 5; i++)
    for (let row = 0; row < rows; row++) if (random.next() < 0.1) numbers[i]![row] = Number.NaN;
  return [
    ...numbers.map((values, i): ColumnData => ({ name: `n${i}`, kind: "number", values })),
    ...labels.map(
      (values, i): ColumnData => ({ name: `l${i}`, kind: "text", values: values.map((value) => `v${value}`) }),
    ),
    { name: "answer", kind: "text", values: answer },
  ];
}

/** A part of the rows, in their order. */
export function rowsOf(columns: readonly ColumnData[], from: number, to: number): ColumnData[] {
  return columns.map((column) => ({ ...column, values: column.values.slice(from, to) }) as ColumnData);
}
