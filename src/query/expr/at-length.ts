/** Work that cannot give way, between turns. */

import { UNINTERRUPTED_MS_MAX } from "../../protocol/limits.js";
import { allowLongStretch, Overrun } from "../../protocol/stretch.js";
import type { Turns } from "../../protocol/turns.js";

/** In a turn of its own when it takes long. Throws Overrun when it takes too long even for that. */
export async function atLength<T>(turns: Turns, work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Overrun)) throw error;
  }
  await turns.yieldTurn();
  allowLongStretch(UNINTERRUPTED_MS_MAX);
  const value = work();
  await turns.yieldTurn();
  return value;
}
