/** Form fields, each with its label. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  /** The label is read aloud but not shown. */
  readonly isBare?: boolean;
  /** The label stands on the same line. */
  readonly isBeside?: boolean;
}

interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: "text" | "password" | "search" | "number";
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly isFocused?: boolean;
  readonly required?: boolean;
  readonly isCode?: boolean;
  /** Values to choose from, beside any other. */
  readonly offered?: readonly string[];
}

export function TextField({ value, onInput, type = "text", isCode, isFocused, offered, ...rest }: TextFieldProps) {
  const id = useId();
  return (
    <Labelled id={id} {...rest}>
      <input
        id={id}
        class={isCode === true ? "input code" : "input"}
        type={type as "text"}
        value={value}
        placeholder={rest.placeholder}
        required={rest.required}
        autocomplete={rest.autocomplete ?? "off"}
        spellcheck={false}
        list={offered === undefined ? undefined : `${id}-offered`}
        aria-describedby={rest.hint === undefined ? undefined : `${id}-hint`}
        ref={(element) => {
          if (isFocused === true && element !== null && element.dataset.focused === undefined) {
            element.dataset.focused = "";
            element.focus();
          }
        }}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {offered !== undefined && (
        <datalist id={`${id}-offered`}>
          {offered.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </Labelled>
  );
}

interface FilterInputProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly class?: string;
}

/** Over a list: leaves what matches. */
export function FilterInput({ value, onInput, class: className = "" }: FilterInputProps) {
  return (
    <input
      class={`input ${className}`.trimEnd()}
      type="search"
      aria-label="Filter"
      placeholder="Filter"
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

interface TextAreaProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly rows?: number;
  readonly placeholder?: string;
  readonly isCode?: boolean;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

export function TextArea({ value, onInput, rows = 4, isCode, ...rest }: TextAreaProps) {
  const id = useId();
  return (
    <Labelled id={id} {...rest}>
      <textarea
        id={id}
        class={isCode === true ? "input code" : "input"}
        rows={rows}
        value={value}
        placeholder={rest.placeholder}
        spellcheck={isCode !== true}
        onKeyDown={rest.onKeyDown}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Labelled>
  );
}

interface SelectProps<T extends string> extends FieldProps {
  readonly value: T;
  readonly options: readonly (T | readonly [value: T, label: string])[];
  readonly onChange: (value: T) => void;
}

export function Select<T extends string>({ value, options, onChange, ...rest }: SelectProps<T>) {
  const id = useId();
  return (
    <Labelled id={id} {...rest}>
      <select id={id} class="input" value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
        {options.map((option) => {
          const [each, label] = typeof option === "string" ? [option, option] : option;
          return (
            <option key={each} value={each} selected={each === value}>
              {label}
            </option>
          );
        })}
      </select>
    </Labelled>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly disabled?: boolean;
}

export function Switch({ label, isOn, onChange, disabled }: SwitchProps) {
  return (
    <label class="switch">
      <input
        type="checkbox"
        role="switch"
        aria-checked={isOn}
        checked={isOn}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

function Labelled({
  id,
  label,
  hint,
  isBare,
  isBeside,
  children,
}: FieldProps & { id: string; children: ComponentChildren }) {
  return (
    <div class={isBeside === true ? "field beside" : "field"}>
      <label for={id} class={isBare === true ? "unseen" : undefined}>
        {label}
      </label>
      {children}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
