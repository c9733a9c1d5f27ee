/**
 * session-webhook: posts {"event": "session:start", …the context} to a URL of yours when a session
 * is created or reset.
 *
 * Needs:  HERMES_SESSION_WEBHOOK_URL  where to, from the environment of the listener or <home>/.env
 *
 * Without it nothing is sent, and that is said once. One attempt of at most 5 seconds, unsigned:
 * for signed deliveries with retries use hooks.outbound in config.yaml. Nothing has to be installed.
 */
import process from "node:process";

/** How long the service may take, in ms. */
const TIMEOUT_MS = 5_000;

let told = false;

/** Called for session:start and session:reset. */
export async function handle(event: string, context: Record<string, unknown>): Promise<void> {
  const url = process.env["HERMES_SESSION_WEBHOOK_URL"];
  if (!url) {
    if (!told) console.error("nothing is sent: set HERMES_SESSION_WEBHOOK_URL");
    told = true;
    return;
  }
  const answer = await post(url, JSON.stringify({ event, ...context }));
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`${hostOf(url)} answered ${answer.status}`);
}

async function post(url: string, body: string): Promise<Response> {
  try {
    return await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    const late = (error as Error).name === "TimeoutError";
    throw new Error(`${hostOf(url)} ${late ? "did not answer in 5 s" : "could not be reached"}`);
  }
}

/** The whole address may hold a secret, as those of chat services do. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "HERMES_SESSION_WEBHOOK_URL is no URL: it";
}
