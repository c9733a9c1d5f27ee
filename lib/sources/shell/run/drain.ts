/** Reading on after a process is gone, while something else holds its pipes (rule 3.6). */

const TURN_MS = 25;
/** Four turns without a byte: the pipes have been empty for 100 ms. */
const QUIET_TURNS = 4;
const LONGEST_MS = 1000;

/**
 * Calls `done` once, when no byte came for 100 ms, or after a second at most. Time is counted in
 * turns of the event loop, each of which reads what is there: a loop that was held up for long
 * must not take unread pipes for empty ones.
 * @param bytesSeen how many bytes came so far
 * @returns gives it up; `done` is not called then
 */
export function drain(bytesSeen: () => number, done: () => void): () => void {
  const began = performance.now();
  let seen = bytesSeen(), quiet = 0, turns = 0;
  const turn = () => {
    const now = bytesSeen();
    quiet = now === seen ? quiet + 1 : 0;
    seen = now;
    const late = ++turns > 1 && performance.now() - began >= LONGEST_MS;
    if (quiet >= QUIET_TURNS || late) done();
    else timer = setTimeout(turn, TURN_MS);
  };
  let timer = setTimeout(turn, TURN_MS);
  return () => clearTimeout(timer);
}
