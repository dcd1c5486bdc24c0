/** The pages: their places in the navigation, and what loads them. A page is loaded when it is first opened. */
import type { ComponentType } from "preact";
import { isAdmin, type User } from "../lib/session.js";
import type { IconName } from "../ui/icon.js";

/** What every page gets: the rest of the address's path. */
export interface PageProps {
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export interface PageEntry {
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  /** After g, it opens the page. */
  readonly letter: string;
  readonly load: () => Promise<ComponentType<PageProps>>;
  readonly isFor?: (user: User) => boolean;
}

export const PAGES: readonly PageEntry[] = [
  {
    id: "home",
    title: "Home",
    icon: "home",
    letter: "h",
    load: async () => (await import("../pages/home/home-page.js")).HomePage,
  },
  {
    id: "query",
    title: "Query",
    icon: "query",
    letter: "q",
    load: async () => (await import("../pages/query/query-page.js")).QueryPage,
  },
  {
    id: "data",
    title: "Data",
    icon: "data",
    letter: "d",
    load: async () => (await import("../pages/data/data-page.js")).DataPage,
  },
  {
    id: "search",
    title: "Search",
    icon: "search",
    letter: "s",
    load: async () => (await import("../pages/search/search-page.js")).SearchPage,
  },
  {
    id: "graph",
    title: "Graph",
    icon: "graph",
    letter: "r",
    load: async () => (await import("../pages/graph/graph-page.js")).GraphPage,
  },
  {
    id: "ai",
    title: "AI",
    icon: "chat",
    letter: "a",
    load: async () => (await import("../pages/ai/ai-page.js")).AiPage,
  },
  {
    id: "models",
    title: "Models",
    icon: "models",
    letter: "m",
    load: async () => (await import("../pages/models/models-page.js")).ModelsPage,
  },
  {
    id: "branches",
    title: "Branches",
    icon: "branch",
    letter: "b",
    load: async () => (await import("../pages/branches/branches-page.js")).BranchesPage,
  },
  {
    id: "operate",
    title: "Operate",
    icon: "operate",
    letter: "o",
    isFor: isAdmin,
    load: async () => (await import("../pages/operate/operate-page.js")).OperatePage,
  },
];

/** Loads the page of that name, or the first one, while the user signs in. Whoever opens it tells what fails. */
export function preloadPage(id: string | undefined): void {
  const { load } = PAGES.find((page) => page.id === id) ?? PAGES[0]!;
  load().catch(() => undefined);
}

export function pagesFor(user: User): readonly PageEntry[] {
  return PAGES.filter(({ isFor }) => isFor === undefined || isFor(user));
}
