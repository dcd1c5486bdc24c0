/** Rows with a rule in them and some noise, the same at every call. */
export interface TrainingRow {
  readonly id: number;
  readonly age: number;
  readonly income: number | null;
  readonly region: string;
  readonly note: string;
  readonly good: string;
}

const NOTES = [
  "asked for a second quote last week",
  "pays every bill on the first day",
  "called the branch about a fee",
];

export function trainingRows(count: number): TrainingRow[] {
  let state = 42;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: count }, (_, id) => {
    const age = 18 + Math.floor(random() * 60);
    const income = 1000 + random() * 5000;
    const region = ["north", "south", "east"][Math.floor(random() * 3)]!;
    const good = income + age * 20 + (region === "north" ? 800 : 0) + random() * 800 > 4800 ? "yes" : "no";
    const note = `${NOTES[id % 3]} (${id})`;
    return { id, age, income: random() < 0.05 ? null : income, region, note, good };
  });
}
