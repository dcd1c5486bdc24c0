/** A form that the page handles itself: Enter in a field does what its button does. */
import type { ComponentChildren } from "preact";

interface FormProps {
  readonly class: string;
  readonly onSubmit: () => void;
  readonly children: ComponentChildren;
}

export function Form({ class: className, onSubmit, children }: FormProps) {
  return (
    <form
      class={className}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
