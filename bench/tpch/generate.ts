/**
 * The eight tables of TPC-H at a scale factor, row by row: keys, value ranges, distributions and correlations after the
 * specification (TPC-H 3.0.1, §4.2.3), texts of our own. Same scale, same rows, on every machine.
 *
 * Called by the bench and by tests; keeps no state. Decimals are strings with two digits, dates ISO texts.
 */
import { Random } from "./random.js";
import {
  COLORS,
  CONTAINER_KINDS,
  CONTAINER_SIZES,
  INSTRUCTIONS,
  NATIONS,
  PRIORITIES,
  REGIONS,
  SEGMENTS,
  SENTENCE,
  SHIP_MODES,
  TYPE_FINISHES,
  TYPE_METALS,
  TYPE_SIZES,
} from "./vocabulary.js";

export type Row = readonly (number | string)[];

/** In the order in which they can be loaded. */
export const TABLES = ["region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem"] as const;
export type TableName = (typeof TABLES)[number];

const SUPPLIERS = 10_000;
const PARTS = 200_000;
const CUSTOMERS = 150_000;
const ORDERS = 1_500_000;
const CLERKS = 1000;
const SUPPLIERS_PER_PART = 4;

/** Days since 1970: 1992-01-01, the last order, and the day that tells returned, shipped and open lines apart. */
const FIRST_ORDER_DAY = 8035;
const LAST_ORDER_DAY = 10440;
const CURRENT_DAY = 9298;

const count = (base: number, scale: number): number => Math.max(1, Math.round(base * scale));

/** Gives every row of the table to `emit`. Orders and their lines are drawn together; see `orders`. */
export function generate(table: TableName, scale: number, emit: (row: Row) => void): void {
  GENERATORS[table](scale, emit);
}

type Generator = (scale: number, emit: (row: Row) => void) => void;

const GENERATORS: Readonly<Record<TableName, Generator>> = {
  region: (_scale, emit) => regions(emit),
  nation: (_scale, emit) => nations(emit),
  supplier: suppliers,
  part: parts,
  partsupp: partSuppliers,
  customer: customers,
  orders: (scale, emit) => orders(scale, emit, () => undefined),
  lineitem: (scale, emit) => orders(scale, () => undefined, emit),
};

function regions(emit: (row: Row) => void): void {
  const random = new Random("region");
  for (const [key, name] of REGIONS.entries()) emit([key, name, comment(random, 31, 115)]);
}

function nations(emit: (row: Row) => void): void {
  const random = new Random("nation");
  for (const [key, [name, region]] of NATIONS.entries()) emit([key, name, region, comment(random, 31, 114)]);
}

/** Of 10,000 suppliers five have complaints in their comments and five have recommendations. */
const SUPPLIERS_PER_REMARK = 2000;
const REMARKS = new Map([
  [50, " Customer Complaints"],
  [51, " Customer Recommends"],
]);

function suppliers(scale: number, emit: (row: Row) => void): void {
  const random = new Random("supplier");
  const total = count(SUPPLIERS, scale);
  for (let key = 1; key <= total; key++) {
    const nation = random.between(0, NATIONS.length - 1);
    const remark = REMARKS.get(key % SUPPLIERS_PER_REMARK) ?? "";
    emit([
      key,
      numbered("Supplier#", key),
      random.text(10, 40),
      nation,
      phone(random, nation),
      decimal(random.between(-99_999, 999_999)),
      comment(random, 25, 80) + remark,
    ]);
  }
}

function parts(scale: number, emit: (row: Row) => void): void {
  const random = new Random("part");
  const total = count(PARTS, scale);
  for (let key = 1; key <= total; key++) {
    const name = new Set<string>();
    while (name.size < 5) name.add(random.of(COLORS));
    const manufacturer = random.between(1, 5);
    emit([
      key,
      [...name].join(" "),
      `Manufacturer#${manufacturer}`,
      `Brand#${manufacturer}${random.between(1, 5)}`,
      `${random.of(TYPE_SIZES)} ${random.of(TYPE_FINISHES)} ${random.of(TYPE_METALS)}`,
      random.between(1, 50),
      `${random.of(CONTAINER_SIZES)} ${random.of(CONTAINER_KINDS)}`,
      decimal(retailCents(key)),
      comment(random, 5, 22),
    ]);
  }
}

function retailCents(part: number): number {
  return 90_000 + (Math.floor(part / 10) % 20_001) + 100 * (part % 1000);
}

/** The `i`-th of a part's four suppliers, spread so that joins over both keys stay selective. */
function supplierOf(part: number, i: number, total: number): number {
  const step = Math.floor(total / SUPPLIERS_PER_PART) + Math.floor((part - 1) / total);
  return ((part + i * step) % total) + 1;
}

function partSuppliers(scale: number, emit: (row: Row) => void): void {
  const random = new Random("partsupp");
  const total = count(PARTS, scale);
  const supplierCount = count(SUPPLIERS, scale);
  for (let part = 1; part <= total; part++) {
    // Few suppliers, as at tiny scales, may come round to the same one.
    const seen = new Set<number>();
    for (let i = 0; i < SUPPLIERS_PER_PART; i++) {
      const supplier = supplierOf(part, i, supplierCount);
      const row = [
        part,
        supplier,
        random.between(1, 9999),
        decimal(random.between(100, 100_000)),
        comment(random, 49, 198),
      ];
      if (!seen.has(supplier)) emit(row);
      seen.add(supplier);
    }
  }
}

function customers(scale: number, emit: (row: Row) => void): void {
  const random = new Random("customer");
  const total = count(CUSTOMERS, scale);
  for (let key = 1; key <= total; key++) {
    const nation = random.between(0, NATIONS.length - 1);
    emit([
      key,
      numbered("Customer#", key),
      random.text(10, 40),
      nation,
      phone(random, nation),
      decimal(random.between(-99_999, 999_999)),
      random.of(SEGMENTS),
      comment(random, 29, 116),
    ]);
  }
}

/**
 * Orders with one to seven lines each. An order's status and total follow from its lines, so both tables come from the
 * same draws. A third of the customers has no orders; of every 32 order keys eight are used.
 */
function orders(scale: number, emitOrder: (row: Row) => void, emitLine: (row: Row) => void): void {
  const random = new Random("orders");
  const total = count(ORDERS, scale);
  const scales = { parts: count(PARTS, scale), suppliers: count(SUPPLIERS, scale) };
  const customerCount = count(CUSTOMERS, scale);
  const clerks = count(CLERKS, scale);
  for (let i = 0; i < total; i++) {
    const key = Math.floor(i / 8) * 32 + (i % 8) + 1;
    let customer = random.between(1, customerCount);
    if (customer % 3 === 0) customer = customer === 3 ? 1 : customer - 1;
    const day = random.between(FIRST_ORDER_DAY, LAST_ORDER_DAY);
    const lines = Array.from({ length: random.between(1, 7) }, (_, number) =>
      line(random, key, number + 1, day, scales),
    );
    const open = lines.filter(({ shipped }) => !shipped).length;
    emitOrder([
      key,
      customer,
      open === 0 ? "F" : open === lines.length ? "O" : "P",
      decimal(lines.reduce((sum, { charged }) => sum + charged, 0)),
      isoDay(day),
      random.of(PRIORITIES),
      numbered("Clerk#", random.between(1, clerks)),
      0,
      comment(random, 19, 78),
    ]);
    for (const { row } of lines) emitLine(row);
  }
}

interface Line {
  readonly row: Row;
  readonly shipped: boolean;
  /** Cents. */
  readonly charged: number;
}

function line(
  random: Random,
  order: number,
  number: number,
  orderDay: number,
  scales: { readonly parts: number; readonly suppliers: number },
): Line {
  const part = random.between(1, scales.parts);
  const supplier = supplierOf(part, random.between(0, SUPPLIERS_PER_PART - 1), scales.suppliers);
  const quantity = random.between(1, 50);
  const price = quantity * retailCents(part);
  const discount = random.between(0, 10);
  const tax = random.between(0, 8);
  const shipDay = orderDay + random.between(1, 121);
  const commitDay = orderDay + random.between(30, 90);
  const receiptDay = shipDay + random.between(1, 30);
  const returned = random.of(["R", "A"]);
  const row: Row = [
    order,
    part,
    supplier,
    number,
    `${quantity}.00`,
    decimal(price),
    decimal(discount),
    decimal(tax),
    receiptDay <= CURRENT_DAY ? returned : "N",
    shipDay > CURRENT_DAY ? "O" : "F",
    isoDay(shipDay),
    isoDay(commitDay),
    isoDay(receiptDay),
    random.of(INSTRUCTIONS),
    random.of(SHIP_MODES),
    comment(random, 10, 43),
  ];
  return {
    row,
    shipped: shipDay <= CURRENT_DAY,
    charged: Math.round((price * (100 - discount) * (100 + tax)) / 10_000),
  };
}

function numbered(prefix: string, key: number): string {
  return prefix + String(key).padStart(9, "0");
}

function decimal(hundredths: number): string {
  const digits = String(Math.abs(hundredths)).padStart(3, "0");
  return `${hundredths < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

function phone(random: Random, nation: number): string {
  return `${nation + 10}-${random.between(100, 999)}-${random.between(100, 999)}-${random.between(1000, 9999)}`;
}

const isoDays = new Map<number, string>();

function isoDay(day: number): string {
  let text = isoDays.get(day);
  if (text === undefined) {
    text = new Date(day * 86_400_000).toISOString().slice(0, 10);
    isoDays.set(day, text);
  }
  return text;
}

/** Sentences, cut to a random length. */
function comment(random: Random, lengthMin: number, lengthMax: number): string {
  const length = random.between(lengthMin, lengthMax);
  let text = "";
  while (text.length < length) for (const part of SENTENCE) text += `${text === "" ? "" : " "}${random.of(part)}`;
  return text.slice(0, length).trimEnd();
}
