/**
 * Examples for the help of commands that do not bring their own. Called by the command line when it has all commands.
 */
import type { Command } from "commander";

/** By the words of the command. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "check-config": ["tessera check-config --config /etc/tessera.toml", "tessera check-config --json"],
  "reset-password": ["tessera reset-password admin --clear-mfa"],
  diagnostics: ["TESSERA_TOKEN=… tessera diagnostics --profile-seconds 10"],
  upgrade: ["tessera upgrade --check", "tessera upgrade", "tessera upgrade --rollback"],
  "accept-loss": ["tessera accept-loss 3"],
  "cluster init": ["tessera cluster init --cluster etcd://10.0.0.1:2379/shop --node a --partitions 32"],
  "cluster status": ["tessera cluster status --cluster etcd://10.0.0.1:2379/shop"],
  "cluster check": ["tessera cluster check --cluster etcd://10.0.0.1:2379/shop --node a"],
  "cluster drain": ["tessera cluster drain b", "tessera cluster drain b --over"],
  "cluster hand-over": ["tessera cluster hand-over 7 c"],
  "cluster finalize": ["tessera cluster finalize --cluster etcd://10.0.0.1:2379/shop"],
  "cluster remove": ["tessera cluster remove b"],
  "models list": ["tessera models list --json"],
  "models available": ["tessera models available"],
  "models delete": ["tessera models delete all-minilm-l6-v2"],
  "tenants list": ["tessera tenants list"],
  "tenants create": ["tessera tenants create acme --name 'Acme Ltd.'"],
  "tenants delete": ["tessera tenants delete acme --confirm acme"],
  "tenants disable": ["tessera tenants disable acme"],
  "tenants enable": ["tessera tenants enable acme"],
  "users list": ["tessera users list --tenant acme"],
  "users create": ["tessera users create ada --new-password-file ada.txt --role admin"],
  "users disable": ["tessera users disable ada"],
  "users enable": ["tessera users enable ada"],
  "users reset-password": ["tessera users reset-password ada --new-password-file ada.txt"],
  "users delete": ["tessera users delete ada"],
  "api-keys list": ["tessera api-keys list"],
  "api-keys create": ["tessera api-keys create reports --read-only --days 90"],
  "api-keys delete": ["tessera api-keys delete 6f1c2a9e-0d3b-4b8e-9a55-2f7f0c1d8e42"],
  "backup create": ["tessera backup create", "tessera backup create --incremental --passphrase-file secret.txt"],
  "backup list": ["tessera backup list --json"],
  "backup verify": ["tessera backup verify shop.backup"],
  "backup restore": ["tessera backup restore --until 2026-01-31T12:00:00Z --replace"],
  "backup delete": ["tessera backup delete 20260131-120000"],
  "backup download": ["tessera backup download 20260131-120000 shop.backup"],
  "backup upload": ["tessera backup upload shop.backup --tenant acme"],
  "keys list": ["tessera keys list"],
  "keys rotate": ["tessera keys rotate"],
  "keys reseal": ["tessera keys reseal"],
  "keys drop": ["tessera keys drop --unused"],
  doctor: ["tessera doctor", "tessera doctor --json --config /etc/tessera.toml"],
};

export function addExamples(program: Command): void {
  const walk = (command: Command, words: readonly string[]): void => {
    for (const each of command.commands) {
      const path = [...words, each.name()];
      const lines = EXAMPLES[path.join(" ")];
      if (lines !== undefined) {
        const title = lines.length === 1 ? "Example" : "Examples";
        each.addHelpText("after", `\n${title}:\n${lines.map((line) => `  ${line}`).join("\n")}`);
      }
      walk(each, path);
    }
  };
  walk(program, []);
}
