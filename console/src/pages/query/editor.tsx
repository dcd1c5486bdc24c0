/**
 * The editor of statements. CodeMirror styles itself by sheets that are made at run time. Inside a shadow root it makes
 * them as objects, which a strict Content-Security-Policy allows, where in the page it would add style elements, which
 * it does not.
 */

import { setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";
import { catalog } from "../../lib/catalog.js";
import { editorExtensions, languageExtension } from "./editor-setup.js";
import type { Language } from "./split.js";

/** What the page asks of the editor. */
export interface EditorHandle {
  readonly text: () => string;
  /** Null: nothing is selected. */
  readonly selection: () => { readonly from: number; readonly to: number } | null;
  readonly cursor: () => number;
  readonly focus: () => void;
  /** Underlines what is wrong; null takes the line away. */
  readonly mark: (fault: { readonly from: number; readonly to: number; readonly message: string } | null) => void;
  readonly insert: (text: string) => void;
}

interface EditorProps {
  readonly text: string;
  readonly language: Language;
  readonly onChange: (text: string) => void;
  readonly onReady: (handle: EditorHandle) => void;
}

export default function Editor({ text, language, onChange, onReady }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const languageOf = useRef(new Compartment());
  const changed = useRef(onChange);
  changed.current = onChange;

  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: "open" });
    const made = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: text,
        extensions: [
          editorExtensions(),
          languageOf.current.of(languageExtension(language, catalog.get())),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    onReady(handleOf(made));
    made.focus();
    return () => made.destroy();
  }, []);

  useEffect(() => {
    const apply = (): void => {
      const effects = languageOf.current.reconfigure(languageExtension(language, catalog.get()));
      view.current?.dispatch({ effects });
    };
    apply();
    return catalog.follow(apply);
  }, [language]);

  return <div class="editor" ref={host} />;
}

function handleOf(view: EditorView): EditorHandle {
  return {
    text: () => view.state.doc.toString(),
    selection() {
      const { from, to } = view.state.selection.main;
      return from === to ? null : { from, to };
    },
    cursor: () => view.state.selection.main.head,
    focus: () => view.focus(),
    mark(fault) {
      const length = view.state.doc.length;
      const marks =
        fault === null
          ? []
          : [
              {
                from: Math.min(fault.from, length),
                to: Math.min(fault.to, length),
                message: fault.message,
                severity: "error" as const,
              },
            ];
      view.dispatch(setDiagnostics(view.state, marks));
    },
    insert(text) {
      view.dispatch(view.state.replaceSelection(text));
      view.focus();
    },
  };
}
