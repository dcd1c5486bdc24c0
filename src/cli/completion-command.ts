/**
 * `tessera completion bash|zsh`: what a shell needs to complete commands and options. Made from the commands
 * themselves.
 */
import { type Command, InvalidArgumentError } from "commander";

export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description("print completions for a shell")
    .argument("<shell>", "bash or zsh", (shell) => {
      if (shell === "bash" || shell === "zsh") return shell;
      throw new InvalidArgumentError("There are completions for bash and zsh.");
    })
    .addHelpText(
      "after",
      `
Examples:
  tessera completion bash > ~/.local/share/bash-completion/completions/tessera
  tessera completion zsh > "\${fpath[1]}/_tessera"`,
    )
    .action((shell: string) => console.log(completionFor(shell, program)));
}

/** The words that may follow each chain of commands. */
function wordsByCommand(program: Command): readonly (readonly [chain: string, words: string])[] {
  const found: (readonly [string, string])[] = [];
  const walk = (command: Command, chain: readonly string[]): void => {
    const names = command.commands.map((each) => each.name());
    const options = command.options.flatMap(({ long }) => (long == null ? [] : [long]));
    found.push([chain.join(" "), [...names, ...options, "--help"].join(" ")]);
    for (const each of command.commands) walk(each, [...chain, each.name()]);
  };
  walk(program, []);
  return found;
}

function completionFor(shell: string, program: Command): string {
  const cases = wordsByCommand(program).map(
    ([chain, words]) => `    ${JSON.stringify(chain)}) words=${JSON.stringify(words)} ;;`,
  );
  const body = `_tessera_words() {
  local words=""
  case "$1" in
${cases.join("\n")}
  esac
  printf '%s' "$words"
}`;
  if (shell === "zsh") return `#compdef tessera\n${body}\n${ZSH}`;
  return `${body}\n${BASH}`;
}

const BASH = `_tessera() {
  local chain="" word current="\${COMP_WORDS[COMP_CWORD]}" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    [[ "$word" == -* ]] && continue
    [[ -n "$(_tessera_words "\${chain:+$chain }$word")" ]] && chain="\${chain:+$chain }$word"
  done
  COMPREPLY=($(compgen -W "$(_tessera_words "$chain")" -- "$current"))
  [[ \${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _tessera tessera`;

const ZSH = `_tessera() {
  local chain="" word i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    [[ "$word" == -* ]] && continue
    [[ -n "$(_tessera_words "\${chain:+$chain }$word")" ]] && chain="\${chain:+$chain }$word"
  done
  compadd -- \${=$(_tessera_words "$chain")} || _files
}
_tessera "$@"`;
