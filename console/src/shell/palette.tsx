/** The command palette: everything that can be opened or done, found by some of its letters. */
import { useEffect, useState } from "preact/hooks";
import { useModal } from "../ui/dialog.js";
import { Icon, type IconName } from "../ui/icon.js";

export interface Command {
  readonly id: string;
  readonly title: string;
  readonly group: string;
  readonly icon: IconName;
  readonly keys?: string;
  readonly run: () => void;
}

const SHOWN_MAX = 60;

/** Smaller is better; null: the letters are not in it in that order. */
export function distanceOf(title: string, wanted: string): number | null {
  const text = title.toLowerCase();
  const direct = text.indexOf(wanted);
  if (direct >= 0) return direct === 0 ? 0 : text[direct - 1] === " " ? 1 : 2 + direct / 100;
  let at = -1;
  let gaps = 0;
  for (const letter of wanted) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return null;
    gaps += next - at - 1;
    at = next;
  }
  return 10 + gaps;
}

function matching(commands: readonly Command[], typed: string): readonly Command[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === "") return commands.slice(0, SHOWN_MAX);
  return commands
    .flatMap((command) => {
      const distance = distanceOf(`${command.title}`, wanted);
      return distance === null ? [] : [{ command, distance }];
    })
    .sort((a, b) => a.distance - b.distance)
    .slice(0, SHOWN_MAX)
    .map(({ command }) => command);
}

interface PaletteProps {
  readonly commands: readonly Command[];
  readonly onClose: () => void;
}

export function Palette({ commands, onClose }: PaletteProps) {
  const dialog = useModal();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const found = matching(commands, typed);
  useEffect(() => {
    dialog.current!.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at, typed]);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    command.run();
  };
  const handle = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt((now) => (now + step + found.length) % Math.max(found.length, 1));
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(found[at]);
    }
  };
  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label="Commands"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
      onKeyDown={handle}
    >
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-label="Find a page, a table or a command"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${at}` : undefined}
        placeholder="Find a page, a table or a command"
        spellcheck={false}
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
      />
      <div class="palette-list" id="palette-list" role="listbox" aria-label="Commands">
        {found.map((command, index) => (
          <Entry
            key={command.id}
            command={command}
            index={index}
            isCurrent={index === at}
            onRun={run}
            onPoint={setAt}
          />
        ))}
      </div>
      {found.length === 0 && <p class="none">Nothing has these letters.</p>}
    </dialog>
  );
}

interface EntryProps {
  readonly command: Command;
  readonly index: number;
  readonly isCurrent: boolean;
  readonly onRun: (command: Command) => void;
  readonly onPoint: (index: number) => void;
}

function Entry({ command, index, isCurrent, onRun, onPoint }: EntryProps) {
  return (
    // The keyboard's part is the field's, as in every combobox.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <div
      id={`palette-${index}`}
      role="option"
      tabIndex={-1}
      class="palette-entry"
      aria-selected={isCurrent}
      onMouseMove={() => onPoint(index)}
      onClick={() => onRun(command)}
    >
      <Icon name={command.icon} />
      <span>{command.title}</span>
      {command.keys !== undefined && <kbd>{command.keys}</kbd>}
      <small>{command.group}</small>
    </div>
  );
}
