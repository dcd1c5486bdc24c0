/** The documents' search box, menu and theme. MiniSearch comes before it; the index is loaded when somebody searches. */
(() => {
  const root = document.documentElement;
  const base = root.dataset.root;
  const input = document.getElementById("search");
  const list = document.getElementById("results");
  const RESULTS_MAX = 12;
  /** The guide comes first: it says how to do something. The reference comes next. */
  const OPTIONS = {
    prefix: (term) => term.length > 2,
    fuzzy: 0.15,
    boost: { title: 4, heading: 3 },
    boostDocument: (_id, _term, { url }) => (url.startsWith("guide/") ? 2 : url.startsWith("reference/") ? 1.8 : 1),
  };
  let index = null;

  async function load() {
    index ??= fetch(`${base}search.json`)
      .then((reply) => reply.text())
      .then((text) =>
        MiniSearch.loadJSON(text, {
          fields: ["heading", "title", "text"],
          storeFields: ["title", "heading", "url", "excerpt"],
        }),
      );
    return index;
  }

  function element(name, className, text) {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    return made;
  }

  function show(found) {
    list.replaceChildren(
      ...found.slice(0, RESULTS_MAX).map(({ title, heading, url, excerpt }) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = base + url;
        link.append(
          element("strong", "", heading === "" ? title : `${title}: ${heading}`),
          element("span", "", excerpt),
        );
        item.append(link);
        return item;
      }),
    );
    if (found.length === 0) list.append(element("li", "none", "Nothing was found."));
    list.hidden = false;
  }

  async function search() {
    const text = input.value.trim();
    if (text === "") {
      list.hidden = true;
      return;
    }
    const loaded = await load();
    const found = loaded.search(text, { ...OPTIONS, combineWith: "AND" });
    show(found.length > 0 ? found : loaded.search(text, OPTIONS));
  }

  input.addEventListener("focus", load, { once: true });
  input.addEventListener("input", search);
  document.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "/" && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape") list.hidden = true;
    else if (!list.hidden && event.key === "ArrowDown") {
      event.preventDefault();
      links[Math.min(at + 1, links.length - 1)]?.focus();
    } else if (!list.hidden && event.key === "ArrowUp") {
      event.preventDefault();
      (at <= 0 ? input : links[at - 1]).focus();
    } else if (event.key === "Enter" && document.activeElement === input) links[0]?.click();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".search")) list.hidden = true;
  });

  const asked = new URLSearchParams(location.search).get("search");
  if (asked !== null) {
    input.value = asked;
    search();
  }

  const menu = document.getElementById("menu");
  menu.addEventListener("click", () => {
    const isOpen = root.classList.toggle("menu-open");
    menu.setAttribute("aria-expanded", String(isOpen));
  });

  const stored = localStorage.getItem("tessera-docs-theme");
  if (stored !== null) root.dataset.theme = stored;
  document.getElementById("theme").addEventListener("click", () => {
    const isDark =
      root.dataset.theme === undefined
        ? matchMedia("(prefers-color-scheme: dark)").matches
        : root.dataset.theme === "dark";
    root.dataset.theme = isDark ? "light" : "dark";
    localStorage.setItem("tessera-docs-theme", root.dataset.theme);
  });
  document.querySelector('[aria-current="page"]')?.scrollIntoView({ block: "nearest" });
})();
