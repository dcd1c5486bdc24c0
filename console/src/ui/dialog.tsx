/** A dialog over the page: the browser's own, which keeps the focus inside and closes with Escape. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button } from "./button.js";
import { Failure } from "./notice.js";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly isWide?: boolean;
}

export function Dialog({ title, onClose, children, actions, isWide }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    element.current!.showModal();
  }, []);
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
      <div class="dialog-body">{children}</div>
      {actions !== undefined && <div class="dialog-actions">{actions}</div>}
    </dialog>
  );
}

interface ActionDialogProps extends Omit<DialogProps, "actions"> {
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
      <Button kind={isDangerous === true ? "danger" : "primary"} disabled={disabled} onClick={onAction}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog {...dialog} actions={actions}>
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
