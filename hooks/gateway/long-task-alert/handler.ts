/**
 * long-task-alert: one Telegram message when a run of the agent reaches its 10th step.
 *
 * Needs:  TELEGRAM_BOT_TOKEN    the bot's token, from @BotFather
 *         TELEGRAM_HOME_CHANNEL the chat it writes to, such as 84120377 or @my_channel
 * Can be: HERMES_LONG_TASK_STEPS  another step than the 10th
 *         TELEGRAM_API_BASE       another server than https://api.telegram.org
 *
 * All of them come from the environment of the listener or from <home>/.env. Without token or chat
 * it does nothing, and says so once. Nothing has to be installed.
 */
import process from "node:process";

interface Step {
  readonly iteration?: number;
  readonly tool_names?: readonly string[];
}

const DEFAULT_STEPS = 10;
/** How long Telegram may take, in ms. */
const TIMEOUT_MS = 10_000;

let told = false;

/** What is missing is said once, not at every step. */
function sayMissing(): void {
  if (!told) console.error("nothing is sent: set TELEGRAM_BOT_TOKEN and TELEGRAM_HOME_CHANNEL");
  told = true;
}

function stepsWanted(): number {
  const steps = Number(process.env["HERMES_LONG_TASK_STEPS"]);
  return Number.isInteger(steps) && steps > 0 ? steps : DEFAULT_STEPS;
}

/** Called at every step of every run. */
export async function handle(_event: string, context: Step): Promise<void> {
  const { TELEGRAM_BOT_TOKEN: token, TELEGRAM_HOME_CHANNEL: chat } = process.env;
  if (!token || !chat) return sayMissing();
  // Exactly this one: a run tells once, however long it goes on.
  if (context.iteration !== stepsWanted()) return;
  const tools = (context.tool_names ?? []).join(", ") || "none";
  const text = `⚠️ The agent is at step ${context.iteration}. Last tools: ${tools}`;
  await send(token, { chat_id: chat, text });
}

async function send(token: string, message: object): Promise<void> {
  const base = process.env["TELEGRAM_API_BASE"] || "https://api.telegram.org";
  let answer: Response;
  try {
    answer = await fetch(`${base.replace(/\/+$/, "")}/bot${token}/sendMessage`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(message),
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    // The runtime's own words may hold the address, and that holds the token.
    throw new Error("Telegram could not be reached");
  }
  if (answer.ok) return void await answer.body?.cancel();
  const said = await answer.json().catch(() => undefined) as { description?: string } | undefined;
  throw new Error(`Telegram answered ${answer.status}: ${said?.description ?? "no reason given"}`);
}
