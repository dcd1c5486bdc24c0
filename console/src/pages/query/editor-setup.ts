/** How the editor behaves and looks, and what it knows of both languages. */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { keywordCompletionSource, PostgreSQL, SQLDialect, schemaCompletionSource, sql } from "@codemirror/lang-sql";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import type { Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder,
  rectangularSelection,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Catalog } from "../../lib/catalog.js";
import { client } from "../../lib/session.js";
import type { Language } from "./split.js";

const THEME = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--surface)", color: "var(--text)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--muted)", border: "0", padding: "0 6px" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--hover) 50%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--warn-ground)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-ground)", outline: "1px solid var(--accent)" },
  ".cm-placeholder": { color: "var(--muted)" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    boxShadow: "var(--shadow)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "12px", maxHeight: "15em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-ground)", color: "var(--text)" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal", marginLeft: "10px" },
  ".cm-completionInfo": { padding: "8px 10px", maxWidth: "420px", fontFamily: "var(--font)", whiteSpace: "pre-wrap" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad)",
    textUnderlineOffset: "3px",
  },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)", padding: "6px 10px", fontFamily: "var(--font)" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-textfield": { backgroundColor: "var(--surface)", border: "1px solid var(--line-strong)" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--raised)", border: "1px solid var(--line)" },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.lineComment, tags.blockComment, tags.comment], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.standard(tags.name)], color: "var(--code-type)" },
]);

/**
 * Where text takes the place of a selection, browsers put elements with inline styles into the page before CodeMirror
 * sees it, and the Content-Security-Policy would report them. So the text is put there by CodeMirror.
 */
const REPLACEMENT = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType, isComposing } = event;
    const { from, to, empty } = view.state.selection.main;
    if (inputType !== "insertText" || data === null || isComposing || empty) return false;
    event.preventDefault();
    const insert = () => view.state.update(view.state.replaceSelection(data), { userEvent: "input.type" });
    const isHandled = view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, data, insert));
    if (!isHandled) view.dispatch(insert());
    return true;
  },
});

export function editorExtensions(): Extension {
  return [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    history(),
    drawSelection(),
    rectangularSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ icons: false }),
    highlightActiveLine(),
    EditorView.lineWrapping,
    REPLACEMENT,
    highlightSelectionMatches(),
    syntaxHighlighting(COLOURS),
    placeholder("A statement. Ctrl-Enter runs it."),
    // The page runs statements by these.
    keymap.of([
      { key: "Mod-Enter", run: () => true },
      { key: "Shift-Mod-Enter", run: () => true },
    ]),
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...historyKeymap]),
    keymap.of([...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"), indentWithTab]),
    EditorView.contentAttributes.of({ "aria-label": "Statements" }),
    THEME,
  ];
}

const CYPHER_WORDS =
  "match optional where return with as order by asc desc skip limit unwind create merge on set remove delete detach " +
  "call yield union all distinct and or xor not in starts ends contains is null true false case when then else end " +
  "foreach load csv from exists count collect using index explain profile";

const Cypher = SQLDialect.define({
  keywords: CYPHER_WORDS,
  types: "",
  slashComments: true,
  doubleQuotedStrings: true,
  identifierQuotes: "`",
  specialVar: "$",
  backslashEscapes: true,
});

export function languageExtension(language: Language, catalog: Catalog): Extension {
  return language === "sql" ? sqlSupport(catalog) : cypherSupport(catalog);
}

function sqlSupport({ objects, functions }: Catalog): Extension {
  const tree: Record<string, Record<string, Completion[]>> = {};
  for (const { schema, name, columns } of objects ?? []) {
    const members = columns.map((column) => ({ label: column.name, detail: column.type, type: "property" }));
    tree[schema] ??= {};
    tree[schema][name] = members;
  }
  const config = { dialect: PostgreSQL, schema: tree, defaultSchema: "public", upperCaseKeywords: true };
  const support = sql(config);
  const called = functions.map(
    (name): Completion => ({
      label: name,
      detail: "function",
      type: "function",
      boost: -1,
      info: () => manualOf(name),
    }),
  );
  const sources = [schemaCompletionSource(config), keywordCompletionSource(PostgreSQL, true), wordSource(called)];
  return [support.language, support.language.data.of({ autocomplete: merged(sources) })];
}

/** What the manual says of a function, beside its name in the list. */
async function manualOf(name: string): Promise<Node | null> {
  const pages = await client().query<{ syntax: string; description: string }>(
    "SELECT syntax, description FROM sql_manual($1) LIMIT 1",
    [name],
  );
  const page = pages.find(({ syntax }) => syntax?.toLowerCase().includes(name.toLowerCase()));
  if (page === undefined) return null;
  const made = document.createElement("div");
  const head = document.createElement("strong");
  head.textContent = page.syntax.split(" | ").find((form) => form.toLowerCase().startsWith(name)) ?? name;
  made.append(head, document.createElement("br"), page.description);
  return made;
}

function cypherSupport({ graph }: Catalog): Extension {
  const support = sql({ dialect: Cypher, upperCaseKeywords: true });
  const named = (names: readonly string[], detail: string) => names.map((label): Completion => ({ label, detail }));
  const labels = [...named(graph.labels, "label"), ...named(graph.relationships, "relationship")];
  const sources = [
    keywordCompletionSource(Cypher, true),
    afterMark(":", labels),
    afterMark(".", named(graph.properties, "property")),
  ];
  return [support.language, support.language.data.of({ autocomplete: merged(sources) })];
}

type Source = (context: CompletionContext) => CompletionResult | null | Promise<CompletionResult | null>;

/** All that any source has to offer, of those that begin at the same place. */
function merged(sources: readonly Source[]): Source {
  return async (context) => {
    const found = (await Promise.all(sources.map((source) => source(context)))).filter((one) => one !== null);
    const from = Math.max(...found.map((one) => one.from));
    const here = found.filter((one) => one.from === from);
    if (here.length === 0) return null;
    return { from, options: here.flatMap(({ options }) => options), validFor: /^\w*$/ };
  };
}

function wordSource(options: readonly Completion[]): Source {
  return (context) => {
    const word = context.matchBefore(/\w{2,}/);
    return word === null ? null : { from: word.from, options, validFor: /^\w*$/ };
  };
}

function afterMark(mark: string, options: readonly Completion[]): Source {
  const pattern = new RegExp(`\\${mark}\\w*`);
  return (context) => {
    const word = context.matchBefore(pattern);
    return word === null ? null : { from: word.from + 1, options, validFor: /^\w*$/ };
  };
}
