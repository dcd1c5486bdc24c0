/** Changes as they are committed. */
import type { Feature } from "../feature.js";
import { FEED } from "./feed.js";
import { feedHandlers } from "./feed-routes.js";

export const feedFeature = {
  name: "feed",
  handlers: feedHandlers,
  part: FEED,
} satisfies Feature;
