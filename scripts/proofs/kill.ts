/** kill -9 at random points under load: everything accepted arrives. */
import { Home, sleep } from "./home.ts";
import { startReceiver, type Tally } from "./receiver.ts";

const CLIENTS = 16;

/** Kills the listener so many times; returns what came of it. */
export async function proveKill(times: number): Promise<Tally> {
  const receiver = await startReceiver();
  const home = new Home("sqlite", receiver.port);
  const accepted = new Set<string>();
  let stopped = false, made = 0;
  const client = async () => {
    while (!stopped) {
      const session = `s${++made}`;
      if (await home.post(session)) accepted.add(session);
      else await sleep(5);
    }
  };
  // One-shot commands write to the same file meanwhile, and start senders of their own.
  const firing = async () => {
    while (!stopped) {
      const session = `f${++made}`;
      if ((await home.fire(session)).code === 0) accepted.add(session);
      await sleep(50);
    }
  };
  let child = await home.serve();
  const clients = [...Array.from({ length: CLIENTS }, client), firing()];
  for (let round = 0; round < times; round++) {
    await sleep(20 + Math.random() * 180);
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    child = await home.serve();
  }
  stopped = true;
  await Promise.all(clients);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  await home.deliverAll();
  const tally = receiver.tally(accepted);
  receiver.close();
  home.remove();
  return tally;
}
