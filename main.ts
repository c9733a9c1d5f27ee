/** The executable's entry: everything is in lib/cli. */
import process from "node:process";
import { main } from "./lib/cli/main.ts";

process.exit(await main(process.argv.slice(2)));
