/**
 * Makes the documents a site: dist/server/docs has an HTML page for each page of Markdown, and an index for the search
 * box. The server gives these files out at /docs (src/gateway/documents.ts). Called by bundle.mjs.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, posix } from "node:path";
import { Marked } from "marked";
import MiniSearch from "minisearch";

/** Folders in the order of the navigation. In each, the links of README.md give the order of the pages. */
const SECTIONS = [
  { title: "Guide", folder: "docs/guide" },
  { title: "Reference", folder: "docs/reference" },
  { title: "Architecture", folder: "docs/architecture" },
  { title: "Decisions", folder: "docs/decisions" },
];
/** Further files that pages link to. They keep their paths. */
const MORE = ["ARCHITECTURE.md", "CONTRIBUTING.md", "bench/README.md"];
const MODELS = "models";
const HOME = "docs/README.md";
const ASSETS = "scripts/site";
const EXCERPT_CHARACTERS = 180;

export function buildSite(folder) {
  const pages = findPages();
  const made = new Set();
  const write = (path, content) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    made.add(file);
  };
  const site = { pages, byFile: new Map(pages.map((page) => [page.file, page])), write, folder, made };
  for (const page of pages) write(`${page.path}.html`, htmlOf(page, site));
  write("404.html", notFoundPage(site));
  write("search.json", JSON.stringify(searchIndex(pages)));
  for (const name of ["site.css", "site.js", "icon.svg"]) write(name, readFileSync(join(ASSETS, name)));
  const umd = createRequire(import.meta.url)
    .resolve("minisearch")
    .replace(/dist\/\w+\/index\.c?js$/, "dist/umd/index.js");
  write("minisearch.js", readFileSync(umd, "utf8").replace(/^\/\/# sourceMappingURL=.*$/m, ""));
  removeOthers(folder, made);
}

function removeOthers(folder, made) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !made.has(file)) rmSync(file);
  }
}

function findPages() {
  const pages = [pageOf(HOME, "")];
  for (const { title, folder } of SECTIONS.filter((section) => existsSync(section.folder))) {
    const order = `${folder}/README.md`;
    const links = existsSync(order) ? [order, ...linksOf(order)] : [];
    const place = (file) => (links.includes(file) ? links.indexOf(file) : links.length);
    const found = markdownIn(folder).sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
    pages.push(...found.map((file) => pageOf(file, title)));
  }
  const more = [...MORE.filter((file) => existsSync(file)), ...markdownIn(MODELS).sort()];
  return [...pages, ...more.map((file) => pageOf(file, "More"))];
}

function markdownIn(folder) {
  const names = readdirSync(folder, { recursive: true });
  return names.filter((name) => name.endsWith(".md")).map((name) => posix.join(folder, name));
}

function linksOf(file) {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/\]\(([^)#:]+\.md)/g)].map(([, link]) => posix.join(dirname(file), link));
}

/** `path` is that of its file in the site without the ending; `url` that of its address below /docs/. */
function pageOf(file, section) {
  const text = readFileSync(file, "utf8");
  const title = /^# (.*)$/m.exec(text)?.[1] ?? basename(file, ".md");
  const path = file
    .replace(/^docs\//, "")
    .replace(/README\.md$/, "index.md")
    .replace(/\.md$/, "");
  return { file, section, text, title: title.replaceAll("`", ""), path, url: path.replace(/(^|\/)index$/, "$1") };
}

/** As GitHub makes the anchors of headings. */
export function slugOf(heading, taken) {
  const slug = heading
    .toLowerCase()
    .replace(/<[^>]*>/g, "")
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
  const count = taken.get(slug) ?? 0;
  taken.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

function rootOf({ path }) {
  return "../".repeat(path.split("/").length - 1) || "./";
}

function htmlOf(page, site) {
  const taken = new Map();
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === "link") token.to = targetOf(token.href, page, site);
      if (token.type === "image") token.href = copyImage(token.href, page, site);
    },
    renderer: {
      heading({ tokens, depth, text }) {
        const id = slugOf(text.replaceAll("`", ""), taken);
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`;
      },
      link({ to, tokens }) {
        const text = this.parser.parseInline(tokens);
        return to === null ? text : `<a href="${to}">${text}</a>`;
      },
      table({ header, rows }) {
        const row = (cells, tag) =>
          `<tr>${cells.map((one) => `<${tag}>${this.parser.parseInline(one.tokens)}</${tag}>`).join("")}</tr>`;
        const body = rows.map((cells) => row(cells, "td")).join("\n");
        return `<div class="table"><table><thead>${row(header, "th")}</thead><tbody>${body}</tbody></table></div>\n`;
      },
      code({ text, lang }) {
        const name = (lang ?? "").split(" ")[0];
        return `<pre data-language="${escapeHtml(name)}"><code>${escapeHtml(text)}</code></pre>\n`;
      },
    },
  });
  return frame(page, marked.parse(page.text), site);
}

/** Where a link leads in the site: null for files of the repository that are no pages. */
function targetOf(href, page, { byFile }) {
  if (/^[a-z]+:/i.test(href) || href.startsWith("#")) return escapeHtml(href);
  const [path, hash] = href.split("#");
  const file = posix.join(dirname(page.file), path);
  const found =
    byFile.get(file) ??
    byFile.get(posix.join(file, "README.md")) ??
    (file === "README.md" ? byFile.get(HOME) : undefined);
  if (found === undefined) return null;
  return `${rootOf(page)}${found.url}${hash === undefined ? "" : `#${hash}`}`;
}

function copyImage(href, page, { folder, made }) {
  if (/^[a-z]+:/i.test(href)) throw new Error(`${page.file} has an image from elsewhere: ${href}`);
  const name = `images/${posix.join(dirname(page.file), href).replaceAll("/", "-")}`;
  mkdirSync(join(folder, "images"), { recursive: true });
  copyFileSync(join(dirname(page.file), href), join(folder, name));
  made.add(join(folder, name));
  return rootOf(page) + name;
}

function navigation(current, { pages }, root) {
  const titles = [...new Set(pages.slice(1).map(({ section }) => section))];
  const link = (page) =>
    `<li><a href="${root}${page.url}"${page === current ? ' aria-current="page"' : ""}>${escapeHtml(/(^|\/)index$/.test(page.path) ? "Overview" : page.title)}</a></li>`;
  return titles
    .map((title) => {
      const those = pages.filter(({ section }) => section === title);
      const isOpen = current.section === title || current.section === "" || title === "Guide";
      return `<details${isOpen ? " open" : ""}><summary>${title}</summary><ul>${those.map(link).join("\n")}</ul></details>`;
    })
    .join("\n");
}

function frame(page, content, site) {
  const root = rootOf(page);
  return layout({
    title: page.title,
    root,
    nav: navigation(page, site, root),
    content: content + neighbours(page, site, root),
  });
}

function neighbours(page, { pages }, root) {
  const those = pages.filter(({ section }) => section === page.section);
  const at = those.indexOf(page);
  const link = (other, rel, mark) =>
    other === undefined
      ? "<span></span>"
      : `<a rel="${rel}" href="${root}${other.url}">${mark(escapeHtml(other.title))}</a>`;
  if (page.section === "") return "";
  return `<nav class="neighbours" aria-label="Neighbouring pages">${link(those[at - 1], "prev", (title) => `← ${title}`)}${link(those[at + 1], "next", (title) => `${title} →`)}</nav>`;
}

/** It is given out for any address below /docs/, so its links begin at the server's root. */
function notFoundPage(site) {
  const content = '<h1>There is no such page</h1><p>Search above, or begin at <a href="/docs/">the first page</a>.</p>';
  return layout({ title: "Not found", root: "/docs/", nav: navigation({ section: "" }, site, "/docs/"), content });
}

function layout({ title, root, nav, content }) {
  return `<!DOCTYPE html>
<html lang="en" data-root="${root}">
<head>
<meta charset="UTF-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Tessera</title>
<link rel="icon" type="image/svg+xml" href="${root}icon.svg">
<link rel="stylesheet" href="${root}site.css">
<script src="${root}minisearch.js" defer></script>
<script src="${root}site.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<button id="menu" type="button" aria-expanded="false" aria-controls="navigation" aria-label="Pages">☰</button>
<a class="brand" href="${root}">Tessera</a>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search (press /)" aria-label="Search the documents" autocomplete="off" spellcheck="false">
<ol id="results" hidden></ol>
</div>
<a class="interface" href="/v1/api-docs/">Interface</a>
<button id="theme" type="button" aria-label="Light or dark">◐</button>
</header>
<div class="columns">
<nav id="navigation" aria-label="Pages">
${nav}
</nav>
<main id="content">
${content}
</main>
</div>
</body>
</html>
`;
}

/** Its options must be those of site.js. */
function searchIndex(pages) {
  const index = new MiniSearch({
    fields: ["heading", "title", "text"],
    storeFields: ["title", "heading", "url", "excerpt"],
  });
  let id = 0;
  for (const page of pages) {
    for (const { heading, anchor, prose, text } of sectionsOf(page.text)) {
      const url = `${page.url}${anchor === "" ? "" : `#${anchor}`}`;
      index.add({ id: id++, title: page.title, heading, url, text, excerpt: excerptOf(prose) });
    }
  }
  return index;
}

function excerptOf(prose) {
  return prose.length <= EXCERPT_CHARACTERS ? prose : `${prose.slice(0, EXCERPT_CHARACTERS).replace(/\s\S*$/, "")} …`;
}

/** Of each heading its prose, from which results are quoted, and its prose with the code, which is searched. */
function sectionsOf(markdown) {
  const taken = new Map();
  const sections = [{ heading: "", anchor: "", prose: "", text: "" }];
  let isCode = false;
  for (const line of markdown.split("\n")) {
    if (line.startsWith("```")) {
      isCode = !isCode;
      continue;
    }
    const heading = isCode ? null : /^(#+) (.*)$/.exec(line);
    if (heading !== null) {
      const title = heading[2].replaceAll("`", "");
      const anchor = slugOf(title, taken);
      if (heading[1].length > 1) sections.push({ heading: title, anchor, prose: "", text: "" });
      continue;
    }
    const section = sections.at(-1);
    section.text += `${isCode ? line : plainOf(line)} `;
    if (!isCode) section.prose += `${plainOf(line)} `;
  }
  return sections
    .map((section) => ({ ...section, prose: inOneLine(section.prose), text: inOneLine(section.text) }))
    .filter(({ heading, text }) => heading !== "" || text !== "");
}

function inOneLine(text) {
  return text.replace(/\s+/g, " ").trim();
}

function plainOf(line) {
  return line.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*|]|^[-#>]+ |-{3,}/g, " ");
}

function escapeHtml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
