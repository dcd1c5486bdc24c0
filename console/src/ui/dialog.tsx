/** A dialog over the page: the browser's own, which keeps the focus inside and closes with Escape. */
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button } from "./button.js";
import { Failure } from "./notice.js";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly isWide?: boolean;
  /** What its button of the type "submit" does, and Enter in a field. */
  readonly onSubmit?: () => void;
}

/** Opens it over the page. At its end the focus goes back to where it was. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current!;
    const before = focused();
    dialog.showModal();
    if (dialog.querySelector("[autofocus]") === null) {
      dialog.querySelector<HTMLElement>(".dialog-body :is(input, select, textarea):not(:disabled)")?.focus();
    }
    // The browser's own way back needs the dialog, which is gone by then.
    return () => {
      if (document.activeElement === document.body) before?.focus();
    };
  }, []);
  return element;
}

/** The editor is in a tree of its own. */
function focused(): HTMLElement | null {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement != null) element = element.shadowRoot.activeElement;
  return element as HTMLElement | null;
}

export function Dialog({ title, onClose, children, actions, isWide, onSubmit }: DialogProps) {
  const element = useModal();
  const id = useId();
  const content = (
    <>
      <div class="dialog-body">{children}</div>
      {actions !== undefined && <div class="dialog-actions">{actions}</div>}
    </>
  );
  return (
    <dialog
      ref={element}
      class={isWide === true ? "dialog wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" icon="close" label="Close" onClick={onClose} />
      </div>
      {onSubmit === undefined ? (
        content
      ) : (
        <form
          class="dialog-form"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            onSubmit();
          }}
        >
          {content}
        </form>
      )}
    </dialog>
  );
}

interface ActionDialogProps extends Omit<DialogProps, "actions" | "onSubmit"> {
  readonly action: string;
  readonly onAction: () => void;
  readonly isDangerous?: boolean | undefined;
  readonly disabled?: boolean;
  /** How the action failed the last time. */
  readonly error?: unknown;
  /** A button before the others. */
  readonly other?: ComponentChildren;
}

/** A dialog that ends with one action, or is left. */
export function ActionDialog({ action, onAction, isDangerous, disabled, error, other, ...dialog }: ActionDialogProps) {
  const actions = (
    <>
      {other}
      <Button onClick={dialog.onClose}>Cancel</Button>
      <Button kind={isDangerous === true ? "danger" : "primary"} type="submit" disabled={disabled}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog {...dialog} actions={actions} onSubmit={onAction}>
      {dialog.children}
      <Failure error={error} />
    </Dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Before what cannot be taken back. */
export function Confirm({ onConfirm, ...dialog }: ConfirmProps) {
  const confirmed = (): void => {
    dialog.onClose();
    onConfirm();
  };
  return <ActionDialog {...dialog} onAction={confirmed} isDangerous />;
}
