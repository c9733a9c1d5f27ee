/** Another process writes to the file at the moment: it is waited for, and the loop goes on. */

/** How long another process that is writing is waited for, in ms. */
export const BUSY_MS = 5_000;
const LOOK_MS = 10;

/** Does an error of `node:sqlite` say that another process writes? */
export function isBusy(error: unknown): boolean {
  const { errcode, message = "" } = error as { errcode?: number; message?: string };
  return errcode === undefined ? /database is locked/.test(message) : (errcode & 0xff) === 5;
}

/** Runs `action`, again and again while another process is in its way. */
export async function whenFree<T>(action: () => T | Promise<T>): Promise<T> {
  for (const deadline = performance.now() + BUSY_MS;;) {
    try {
      return await action();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}
