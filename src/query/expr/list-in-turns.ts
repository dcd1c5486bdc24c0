/** Long lists made in pieces, with turns for others in between. Used by functions' `applyInTurns`. */
import type { Turns } from "../../protocol/turns.js";
import type { Value } from "../../values/values.js";
import { ListMaker } from "./value-parts.js";

/** Items between two looks at the clock. */
const ITEMS_PER_LOOK = 1_024;

/** The list of what the iterator gives. Throws 54000 when it is too long. */
export async function listInTurns(turns: Turns, items: Iterable<Value>): Promise<readonly Value[]> {
  const made = new ListMaker();
  let count = 0;
  for (const item of items) {
    made.add(item);
    if (++count % ITEMS_PER_LOOK === 0 && turns.shouldYield()) await turns.yieldTurn();
  }
  return made.listInTurns(turns);
}
