/**
 * Matches a whole name as Python's engine does, choice by choice, without recursion. Unless groups
 * are asked about it remembers what failed where, which keeps the usual runaway patterns short; a
 * clock ends the others. JavaScript's own RegExp is no way out: it may silently answer "no match"
 * when it gives up, and that would open a gate (rule 2.4).
 */
import { Failures } from "./failures.ts";
import { op, places, type Program } from "./program.ts";
import { ChoiceStack, entrySize } from "./stack.ts";
import { isWord, lowerOf } from "./unicode.ts";

/** What came of a run; `gaveUp` when time, steps or memory ran out first. */
export type RunResult = "match" | "noMatch" | "gaveUp";

/** When a run gives up. */
export interface RunLimits {
  /** The most steps, no bound by default. */
  readonly steps?: number;
  /** The reading of `clock` in ms at which it ends, never by default. */
  readonly deadline?: number;
  /** The clock, in ms; `performance.now` by default. */
  readonly clock?: () => number;
}

/** Whether the whole of `text`, given as code points, matches. Never throws. */
export function runProgram(program: Program, text: Int32Array, limits: RunLimits): RunResult {
  return new Run(program, text, limits).run();
}

// Kinds of entries on the stack.
const alternative = 0; // instruction, position, bit
const exhausted = 1; // bit
const loopState = 2; // loop, rounds, start, last
const slotState = 3; // slot, value
const runDown = 4; // instruction, least position, position, bit
const runUp = 5; // instruction, position, last position, bit
const lazyRound = 6; // instruction, position, round, bit
const barrier = 7; // instruction, position, barrier below, logged

const stepsBetweenChecks = 1024;

class Run {
  readonly #program: Program;
  readonly #text: Int32Array;
  readonly #limits: RunLimits;
  readonly #stack = new ChoiceStack();
  readonly #failures: Failures;
  readonly #slots: Int32Array;
  /** Of each loop: finished rounds, where the round began, where the last one ended. */
  readonly #loops: Int32Array;
  #at = 0;
  #position = 0;
  #steps = 0;
  #nextCheck: number;
  #barrier = -1;
  #stopped = false;

  constructor(program: Program, text: Int32Array, limits: RunLimits) {
    this.#program = program;
    this.#text = text;
    this.#limits = limits;
    this.#failures = new Failures(program.rowCount, text.length + 1);
    this.#slots = new Int32Array(program.slots).fill(-1);
    this.#loops = new Int32Array(program.loops.length * 3);
    this.#nextCheck = Math.min(stepsBetweenChecks, limits.steps ?? Infinity);
  }

  run(): RunResult {
    const { code } = this.#program;
    while (!this.#stopped) {
      if (++this.#steps >= this.#nextCheck && this.#isOver()) break;
      if (code[this.#at * 4] === op.accept && this.#position === this.#text.length) return "match";
      if (this.#step() || this.#stopped) continue;
      if (!this.#retreat()) return this.#stopped ? "gaveUp" : "noMatch";
    }
    return "gaveUp";
  }

  #isOver(): boolean {
    const { steps = Infinity, deadline = Infinity, clock = () => performance.now() } = this.#limits;
    if (this.#steps >= steps || (deadline !== Infinity && clock() >= deadline)) return true;
    this.#nextCheck = Math.min(this.#steps + stepsBetweenChecks, steps);
    return false;
  }

  #push(kind: number, a: number, b: number, c: number, d: number): void {
    if (!this.#stack.push(kind, a, b, c, d)) this.#stopped = true;
  }

  #operand(which: 1 | 2 | 3): number {
    return this.#program.code[this.#at * 4 + which] as number;
  }

  #bitHere(): number {
    return this.#failures.bit(this.#program.rows[this.#at] as number, this.#position);
  }

  /** Runs one instruction; false when it fails. */
  #step(): boolean {
    switch (this.#program.code[this.#at * 4]) {
      case op.char:
        return this.#advanceIf(this.#text[this.#position] === this.#operand(1));
      case op.test:
        return this.#advanceIf(this.#passes(this.#operand(1), this.#position));
      case op.split:
        return this.#split();
      case op.jump:
        this.#at = this.#operand(1);
        return true;
      case op.save:
        return this.#save();
      case op.place:
        return this.#goOnIf(this.#isPlace(this.#operand(1), this.#operand(2) !== 0));
      case op.runGreedy:
      case op.runLazy:
      case op.runPossessive:
        return this.#runOf();
      case op.enter:
        return this.#enter();
      case op.until:
        return this.#until();
      case op.backreference:
        return this.#backreference();
      case op.conditional:
        this.#at = this.#groupMatched(this.#operand(1)) ? this.#at + 1 : this.#operand(2);
        return true;
      case op.look:
        return this.#look();
      case op.atomic:
        return this.#beginSub(this.#position);
      case op.subEnd:
        return this.#endSub();
      default:
        return false;
    }
  }

  #advanceIf(fits: boolean): boolean {
    if (!fits) return false;
    this.#position++;
    this.#at++;
    return true;
  }

  #goOnIf(fits: boolean): boolean {
    if (fits) this.#at++;
    return fits;
  }

  #passes(test: number, position: number): boolean {
    if (position >= this.#text.length) return false;
    return this.#program.tests[test]?.matches(this.#text[position] as number) ?? false;
  }

  #split(): boolean {
    const bit = this.#bitHere();
    if (this.#failures.has(bit)) return false;
    const first = this.#operand(1);
    const second = this.#operand(2);
    if (this.#cannotBegin(first)) {
      this.#at = second;
      return true;
    }
    this.#push(alternative, second, this.#position, bit, 0);
    this.#at = first;
    return true;
  }

  /** Whether an instruction is a character that does not stand here. */
  #cannotBegin(at: number): boolean {
    const { code } = this.#program;
    return code[at * 4] === op.char && code[at * 4 + 1] !== this.#text[this.#position];
  }

  #save(): boolean {
    const slot = this.#operand(1);
    this.#push(slotState, slot, this.#slots[slot] as number, 0, 0);
    this.#slots[slot] = this.#position;
    this.#at++;
    return true;
  }

  #isPlace(place: number, ascii: boolean): boolean {
    const text = this.#text;
    const at = this.#position;
    switch (place) {
      case places.textStart:
        return at === 0;
      case places.textEnd:
        return at === text.length;
      case places.lineStart:
        return at === 0 || text[at - 1] === 10;
      case places.beforeLastNewline:
        return at === text.length || (at === text.length - 1 && text[at] === 10);
      case places.lineEnd:
        return at === text.length || text[at] === 10;
    }
    // Python finds neither \b nor \B in an empty text.
    if (text.length === 0) return false;
    const before = at > 0 && isWord(text[at - 1] as number, ascii);
    const after = at < text.length && isWord(text[at] as number, ascii);
    return (before !== after) === (place === places.boundary);
  }

  #runOf(): boolean {
    const bit = this.#bitHere();
    if (this.#failures.has(bit)) return false;
    const kind = this.#program.code[this.#at * 4];
    const least = this.#operand(1);
    const most = this.#operand(2);
    const test = this.#operand(3);
    const start = this.#position;
    const room = this.#text.length - start;
    const wanted = kind === op.runLazy ? least : most < 0 ? room : Math.min(most, room);
    if (least > room) return false;
    let count = 0;
    while (count < wanted && this.#passes(test, start + count)) count++;
    this.#steps += count;
    if (count < least) return false;
    if (kind === op.runLazy) {
      const last = most < 0 || most > room ? this.#text.length : start + most;
      this.#push(runUp, this.#at, start + count, last, bit);
    } else if (kind === op.runGreedy && count > least) {
      this.#push(runDown, this.#at, start + least, start + count, bit);
    }
    this.#position = start + count;
    this.#at++;
    return true;
  }

  #keepLoop(loop: number): void {
    const at = loop * 3;
    const [rounds, start, last] = [this.#loops[at], this.#loops[at + 1], this.#loops[at + 2]];
    this.#push(loopState, loop, rounds as number, start as number, last as number);
  }

  #setLoop(loop: number, rounds: number, start: number, last: number): void {
    this.#loops[loop * 3] = rounds;
    this.#loops[loop * 3 + 1] = start;
    this.#loops[loop * 3 + 2] = last;
  }

  #enter(): boolean {
    const loop = this.#operand(1);
    this.#keepLoop(loop);
    this.#setLoop(loop, -1, -1, -1);
    this.#at = this.#operand(2);
    return true;
  }

  #until(): boolean {
    const index = this.#operand(1);
    const loop = this.#program.loops[index];
    if (!loop) return false;
    const start = this.#loops[index * 3 + 1] as number;
    const round = Math.min((this.#loops[index * 3] as number) + 1, 0x7ffffffe);
    if (round < loop.least) return this.#neededRound(index, round, loop.least, loop.body);
    const more = round < loop.most && this.#position !== start;
    if (!more) {
      this.#at++;
      return true;
    }
    const bit = this.#bitHere();
    if (this.#failures.has(bit)) return false;
    if (loop.lazy) {
      this.#push(lazyRound, this.#at, this.#position, round, bit);
      this.#at++;
    } else {
      this.#push(alternative, this.#at + 1, this.#position, bit, 0);
      this.#beginRound(index, round, loop.body);
    }
    return true;
  }

  #beginRound(index: number, round: number, body: number): void {
    this.#keepLoop(index);
    this.#setLoop(index, round, this.#position, this.#position);
    this.#at = body;
  }

  #neededRound(index: number, round: number, least: number, body: number): boolean {
    const start = this.#loops[index * 3 + 1] as number;
    const last = this.#loops[index * 3 + 2] as number;
    this.#keepLoop(index);
    // After a round of nothing, all that are still needed can be of nothing too.
    const skipped = last === this.#position && least - round > 100;
    this.#setLoop(index, skipped ? least - 1 : round, start, this.#position);
    this.#at = skipped ? this.#at : body;
    return true;
  }

  #groupMatched(group: number): boolean {
    const from = this.#slots[2 * group] as number;
    const to = this.#slots[2 * group + 1] as number;
    return from >= 0 && to >= from;
  }

  #backreference(): boolean {
    const group = this.#operand(1);
    if (!this.#groupMatched(group)) return false;
    const from = this.#slots[2 * group] as number;
    const length = (this.#slots[2 * group + 1] as number) - from;
    if (this.#position + length > this.#text.length) return false;
    const fold = this.#operand(2);
    for (let i = 0; i < length; i++) {
      const a = this.#text[from + i] as number;
      const b = this.#text[this.#position + i] as number;
      if (a !== b && (!fold || lowerOf(a, fold === 2) !== lowerOf(b, fold === 2))) return false;
      this.#steps++;
    }
    this.#position += length;
    this.#at++;
    return true;
  }

  #look(): boolean {
    const holds = this.#bitHere();
    const holdsNot = holds < 0 ? -1 : holds + this.#text.length + 1;
    const negated = this.#operand(2) === 1;
    const back = this.#operand(3);
    const start = back < 0 ? this.#position : this.#position - back;
    const known = this.#failures.has(holds);
    if (known || start < 0 || this.#failures.has(holdsNot)) {
      if (known === negated) return false;
      this.#at = this.#operand(1);
      return true;
    }
    return this.#beginSub(start);
  }

  #beginSub(start: number): boolean {
    const below = this.#barrier;
    this.#barrier = this.#stack.top;
    this.#push(barrier, this.#at, this.#position, below, this.#failures.logged);
    this.#position = start;
    this.#at++;
    return true;
  }

  /** A look or an atomic group has matched. */
  #endSub(): boolean {
    const { data } = this.#stack;
    const entry = this.#barrier;
    const at = data[entry + 1] as number;
    const position = data[entry + 2] as number;
    this.#failures.forget(data[entry + 4] as number);
    this.#barrier = data[entry + 3] as number;
    this.#at = at;
    if (this.#program.code[at * 4] === op.atomic) {
      this.#dropChoices(entry);
    } else {
      this.#learnLook(position, 0);
      this.#position = position;
      if (this.#operand(2) === 1) {
        this.#undoTo(entry);
        return false;
      }
      this.#dropChoices(entry);
    }
    this.#at = this.#operand(1);
    return true;
  }

  /** Remembers whether the look at `#at` matches at a position: row 0 for yes, 1 for no. */
  #learnLook(position: number, row: 0 | 1): void {
    const bit = this.#failures.bit(this.#program.rows[this.#at] as number, position);
    if (bit >= 0) this.#failures.add(bit + row * (this.#text.length + 1), false);
  }

  /** Removes the choices from an entry on, but keeps what must be put back later. */
  #dropChoices(entry: number): void {
    const stack = this.#stack;
    const { data } = stack;
    let kept = entry;
    for (let from = entry; from < stack.top; from += entrySize) {
      this.#steps++;
      if (data[from] !== loopState && data[from] !== slotState) continue;
      data.copyWithin(kept, from, from + entrySize);
      kept += entrySize;
    }
    stack.top = kept;
  }

  #undoTo(entry: number): void {
    const stack = this.#stack;
    while (stack.top > entry) {
      stack.top -= entrySize;
      this.#steps++;
      this.#putBack(stack.top);
    }
  }

  #putBack(entry: number): void {
    const { data } = this.#stack;
    const which = data[entry + 1] as number;
    if (data[entry] === slotState) this.#slots[which] = data[entry + 2] as number;
    else if (data[entry] === loopState) {
      const [rounds, start, last] = [data[entry + 2], data[entry + 3], data[entry + 4]];
      this.#setLoop(which, rounds as number, start as number, last as number);
    }
  }

  /** Goes back to the last choice that is still open; false when there is none. */
  #retreat(): boolean {
    const stack = this.#stack;
    while (stack.top > 0) {
      const entry = stack.top - entrySize;
      if (++this.#steps >= this.#nextCheck && this.#isOver()) {
        this.#stopped = true;
        return false;
      }
      if (this.#resume(entry, stack.data)) return true;
    }
    return false;
  }

  /** Takes up the topmost entry; false when it holds nothing more to try. */
  #resume(entry: number, data: Int32Array): boolean {
    const a = data[entry + 1] as number;
    const b = data[entry + 2] as number;
    switch (data[entry]) {
      case alternative:
        return this.#takeAlternative(entry, data);
      case runDown:
        return this.#shorten(entry, data);
      case runUp:
        return this.#lengthen(entry, data);
      case lazyRound:
        return this.#takeRound(entry, data);
      case barrier:
        this.#stack.top = entry;
        return this.#subFailed(a, b, data[entry + 3] as number);
      case exhausted:
        this.#remember(a);
        break;
      default:
        this.#putBack(entry);
    }
    this.#stack.top = entry;
    return false;
  }

  #remember(bit: number): void {
    this.#failures.add(bit, this.#program.forgetful && this.#barrier >= 0);
  }

  #takeAlternative(entry: number, data: Int32Array): boolean {
    const bit = data[entry + 3] as number;
    this.#at = data[entry + 1] as number;
    this.#position = data[entry + 2] as number;
    this.#leaveOrMark(entry, data, bit);
    return true;
  }

  /** The last try of an entry begins: when it fails too, its bit is to be remembered. */
  #leaveOrMark(entry: number, data: Int32Array, bit: number): void {
    if (bit < 0) {
      this.#stack.top = entry;
      return;
    }
    data[entry] = exhausted;
    data[entry + 1] = bit;
  }

  #shorten(entry: number, data: Int32Array): boolean {
    const { code } = this.#program;
    const at = (data[entry + 1] as number) + 1;
    const least = data[entry + 2] as number;
    let position = (data[entry + 3] as number) - 1;
    if (code[at * 4] === op.char) {
      const wanted = code[at * 4 + 1];
      while (position >= least && this.#text[position] !== wanted) {
        position--;
        this.#steps++;
      }
    }
    if (position < least) {
      this.#remember(data[entry + 4] as number);
      this.#stack.top = entry;
      return false;
    }
    data[entry + 3] = position;
    this.#at = at;
    this.#position = position;
    return true;
  }

  #lengthen(entry: number, data: Int32Array): boolean {
    const at = data[entry + 1] as number;
    const position = data[entry + 2] as number;
    const test = this.#program.code[at * 4 + 3] as number;
    if (position >= (data[entry + 3] as number) || !this.#passes(test, position)) {
      this.#remember(data[entry + 4] as number);
      this.#stack.top = entry;
      return false;
    }
    data[entry + 2] = position + 1;
    this.#position = position + 1;
    this.#at = at + 1;
    return true;
  }

  #takeRound(entry: number, data: Int32Array): boolean {
    const at = data[entry + 1] as number;
    const round = data[entry + 3] as number;
    const index = this.#program.code[at * 4 + 1] as number;
    this.#position = data[entry + 2] as number;
    this.#leaveOrMark(entry, data, data[entry + 4] as number);
    this.#beginRound(index, round, this.#program.loops[index]?.body ?? 0);
    return true;
  }

  #subFailed(at: number, position: number, below: number): boolean {
    this.#barrier = below;
    this.#at = at;
    if (this.#program.code[at * 4] === op.atomic) return false;
    this.#learnLook(position, 1);
    if (this.#operand(2) === 0) return false;
    this.#position = position;
    this.#at = this.#operand(1);
    return true;
  }
}
