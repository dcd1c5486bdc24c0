/** How many records are read together. */
import t from "tap";
import { ReadStep } from "../../src/query/exec/read-step.js";

t.test("the number grows while records are short, and shrinks after long ones", async (t) => {
  const step = new ReadStep();
  const seen: number[] = [];
  const read = (bytesEach: number): void => {
    seen.push(step.rows);
    step.note(step.rows, step.rows * bytesEach);
  };
  for (const bytes of [100, 100, 100, 100, 8 * 1024 ** 2, 8 * 1024 ** 2, 300_000, 300_000, 100, 100]) read(bytes);
  t.same(seen, [8, 32, 128, 256, 256, 1, 1, 4, 3, 12]);
});
