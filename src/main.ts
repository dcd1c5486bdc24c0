#!/usr/bin/env node
/**
 * The program. It starts the thread of the first actor before it loads anything else, if there is going to be one: the
 * two load side by side. command-line.ts is the rest.
 */
import { startActorThread } from "./actor-thread.js";

const [command] = process.argv.slice(2);
const serves = command === undefined || command === "serve" || command.startsWith("--config");
const firstActor = serves ? startActorThread(0) : null;
const { runCommandLine } = await import("./command-line.js");
await runCommandLine(firstActor);
