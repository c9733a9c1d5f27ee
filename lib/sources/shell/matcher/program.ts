/** Turns a pattern's tree into instructions for the backtracking matcher. */
import { type CharTest, charTestOf, exactChar } from "./char_class.ts";
import { flag, innerFlags, type Node, type Pattern, type Place, unbounded } from "./syntax.ts";

/** The instructions. Each takes four numbers: itself and up to three operands. */
export const op = {
  /** One code point: x. */
  char: 0,
  /** One code point that passes test x. */
  test: 1,
  /** Go on at x; when that fails, at y. */
  split: 2,
  jump: 3,
  /** Remember the position in slot x. */
  save: 4,
  /** Be at place x, with ASCII words when y. */
  place: 5,
  /** From x to y code points that pass the test in z; as many as possible, or as few, or no less. */
  runGreedy: 6,
  runLazy: 7,
  runPossessive: 8,
  /** Begin loop x, and come to its `until` at y. */
  enter: 9,
  /** The end of a round of loop x: another one, or go on. */
  until: 10,
  /** What group x matched, with case ignored when y is 1 (all letters) or 2 (ASCII). */
  backreference: 11,
  /** Go on when group x matched, else at y. */
  conditional: 12,
  /** Look with what follows, then go on at x; negated when y; z code points back, -1 for ahead. */
  look: 13,
  /** Match what follows once and for all, then go on at x. */
  atomic: 14,
  /** The end of a look or an atomic group. */
  subEnd: 15,
  fail: 16,
  /** Succeed at the end of the name. */
  accept: 17,
} as const;

/** The places of `op.place`, by number. */
export const places = {
  textStart: 0,
  textEnd: 1,
  lineStart: 2,
  beforeLastNewline: 3,
  lineEnd: 4,
  boundary: 5,
  inside: 6,
} as const;

/** A loop whose rounds are counted. */
export interface Loop {
  readonly least: number;
  readonly most: number;
  readonly lazy: boolean;
  readonly body: number;
}

/** A pattern ready to run. */
export interface Program {
  /** Four numbers an instruction. */
  readonly code: Int32Array;
  readonly tests: readonly CharTest[];
  readonly loops: readonly Loop[];
  /** Slots for group starts and ends; none when nothing asks about groups. */
  readonly slots: number;
  /** For each instruction the row of what is remembered about it, -1 for none. */
  readonly rows: Int32Array;
  readonly rowCount: number;
  /** Whether what fails inside a look or an atomic group may be forgotten after it succeeded. */
  readonly forgetful: boolean;
}

/** Compiles a pattern. */
export function compileProgram(pattern: Pattern): Program {
  return new Compiler(pattern).compile();
}

// No name is that long, so that more rounds can be needed only where they take nothing.
const mostRounds = 2 ** 30;
// Repeats are written out up to this many instructions; beyond, rounds are counted.
const writtenOut = 30_000;

class Compiler {
  readonly #pattern: Pattern;
  readonly #code: number[] = [];
  readonly #rows: number[] = [];
  readonly #tests: CharTest[] = [];
  readonly #loops: Loop[] = [];
  readonly #remembers: boolean;
  #rowCount = 0;
  #allowance = writtenOut;
  #counting = 0;
  #atomicDepth = 0;
  #subDepth = 0;
  #forgetful = false;

  constructor(pattern: Pattern) {
    this.#pattern = pattern;
    this.#remembers = pattern.asked.size === 0;
  }

  compile(): Program {
    this.#node(this.#pattern.root, this.#pattern.flags);
    this.#emit(op.accept);
    return {
      code: Int32Array.from(this.#code),
      tests: this.#tests,
      loops: this.#loops,
      slots: this.#remembers ? 0 : 2 * (Math.max(...this.#pattern.asked) + 1),
      rows: Int32Array.from(this.#rows),
      rowCount: this.#rowCount,
      forgetful: this.#forgetful,
    };
  }

  /** The number of the next instruction. */
  get #here(): number {
    return this.#rows.length;
  }

  #emit(code: number, x = 0, y = 0, z = 0, rows = 0): number {
    const at = this.#here;
    this.#code.push(code, x, y, z);
    const remembered = rows > 0 && this.#remembers && this.#counting === 0;
    this.#rows.push(remembered ? this.#rowCount : -1);
    if (remembered) this.#rowCount += rows;
    return at;
  }

  #patch(at: number, operand: 1 | 2 | 3, value: number): void {
    this.#code[at * 4 + operand] = value;
  }

  #node(node: Node, flags: number): void {
    const char = exactChar(node, flags);
    if (char !== undefined) {
      this.#emit(op.char, char);
      return;
    }
    switch (node.op) {
      case "char":
      case "set":
      case "any":
        this.#emit(op.test, this.#test(charTestOf(node, flags, false) as CharTest));
        return;
      case "place":
        this.#emit(op.place, placeNumber(node.place, flags), flags & flag.ascii);
        return;
      case "sequence":
        for (const item of node.items) this.#node(item, flags);
        return;
      case "choice":
        return this.#choice(node.branches, flags);
      case "group":
        return this.#group(node, flags);
      case "repeat":
        return this.#repeat(node, flags);
      case "look":
        return this.#look(node, flags);
      case "atomic":
        return this.#atomic(() => this.#node(node.body, flags));
      case "backreference":
        this.#emit(op.backreference, node.group, foldOf(flags));
        return;
      case "conditional":
        return this.#conditional(node, flags);
    }
  }

  #test(test: CharTest): number {
    return this.#tests.push(test) - 1;
  }

  #choice(branches: readonly Node[], flags: number): void {
    const ends: number[] = [];
    branches.forEach((branch, index) => {
      const last = index === branches.length - 1;
      const split = last ? -1 : this.#emit(op.split, this.#here + 1, 0, 0, 1);
      this.#node(branch, flags);
      if (last) return;
      ends.push(this.#emit(op.jump));
      this.#patch(split, 2, this.#here);
    });
    for (const end of ends) this.#patch(end, 1, this.#here);
  }

  #group(node: Node & { op: "group" }, flags: number): void {
    const inner = innerFlags(flags, node.flagsOn, node.flagsOff);
    const kept = this.#pattern.asked.has(node.group);
    if (kept) this.#emit(op.save, 2 * node.group);
    this.#node(node.body, inner);
    if (kept) this.#emit(op.save, 2 * node.group + 1);
  }

  #repeat(node: Node & { op: "repeat" }, flags: number): void {
    if (node.most === 0) return;
    const test = charTestOf(node.body, flags, this.#remembers);
    if (test) {
      const code = node.mode === "greedy"
        ? op.runGreedy
        : node.mode === "lazy"
        ? op.runLazy
        : op.runPossessive;
      const most = node.most === unbounded ? -1 : Math.min(node.most, mostRounds);
      this.#emit(code, Math.min(node.least, mostRounds), most, this.#test(test), 1);
    } else if (node.mode === "possessive") {
      // Each round is once and for all by itself, as in Python.
      this.#atomic(() =>
        this.#loop(node, false, () => this.#atomic(() => this.#node(node.body, flags)))
      );
    } else {
      this.#loop(node, node.mode === "lazy", () => this.#node(node.body, flags));
    }
  }

  /** Repeats what `body` writes. */
  #loop(node: Node & { op: "repeat" }, lazy: boolean, body: () => void): void {
    const { least, most } = node;
    const nullable = node.body.min === 0;
    if (least === 0 && most === 1) return this.#optional(lazy, body);
    if (most === unbounded && least <= 1) return this.#star(least === 1, lazy, nullable, body);
    if (!this.#remembers || (nullable && this.#atomicDepth > 0)) {
      return this.#counted(least, most, lazy, nullable, body);
    }
    const rounds = most === unbounded ? least + 1 : most;
    const cost = rounds * (1 + sizeOf(node.body));
    if (cost > this.#allowance) return this.#counted(least, most, lazy, nullable, body);
    this.#allowance -= cost;
    for (let round = 0; round < least; round++) body();
    if (most === unbounded) return this.#star(false, lazy, nullable, body);
    const exits: number[] = [];
    for (let round = least; round < most; round++) {
      exits.push(this.#split(lazy));
      body();
    }
    for (const exit of exits) this.#patch(exit, lazy ? 1 : 2, this.#here);
  }

  /** A split of which the way out is still to be patched. */
  #split(lazy: boolean): number {
    const next = this.#here + 1;
    return this.#emit(op.split, lazy ? 0 : next, lazy ? next : 0, 0, 1);
  }

  #optional(lazy: boolean, body: () => void): void {
    const split = this.#split(lazy);
    body();
    this.#patch(split, lazy ? 1 : 2, this.#here);
  }

  #star(once: boolean, lazy: boolean, nullable: boolean, body: () => void): void {
    if (nullable && this.#subDepth > 0) this.#forgetful = true;
    this.#rounds(0, unbounded, lazy, once, body);
  }

  #counted(
    least: number,
    most: number,
    lazy: boolean,
    nullable: boolean,
    body: () => void,
  ): void {
    if (nullable && this.#subDepth > 0) this.#forgetful = true;
    this.#counting++;
    this.#rounds(Math.min(least, mostRounds), most, lazy, false, body);
    this.#counting--;
  }

  #rounds(least: number, most: number, lazy: boolean, once: boolean, body: () => void): void {
    const loop = this.#loops.push({ least, most, lazy, body: 0 }) - 1;
    const enter = this.#emit(op.enter, loop);
    const start = this.#here;
    this.#loops[loop] = { least, most, lazy, body: start };
    body();
    this.#patch(enter, 2, once ? start : this.#here);
    this.#emit(op.until, loop, 0, 0, 1);
  }

  #atomic(body: () => void): void {
    const atomic = this.#emit(op.atomic);
    this.#atomicDepth++;
    this.#sub(body);
    this.#atomicDepth--;
    this.#patch(atomic, 1, this.#here);
  }

  #look(node: Node & { op: "look" }, flags: number): void {
    const back = node.behind ? Math.min(node.body.min, mostRounds) : -1;
    const look = this.#emit(op.look, 0, node.negated ? 1 : 0, back, 2);
    this.#sub(() => this.#node(node.body, flags));
    this.#patch(look, 1, this.#here);
  }

  /** What is matched apart from what surrounds it, counted rounds included. */
  #sub(body: () => void): void {
    const counting = this.#counting;
    this.#counting = 0;
    this.#subDepth++;
    body();
    this.#emit(op.subEnd);
    this.#subDepth--;
    this.#counting = counting;
  }

  #conditional(node: Node & { op: "conditional" }, flags: number): void {
    const ask = this.#emit(op.conditional, node.group);
    this.#node(node.yes, flags);
    const end = node.no ? this.#emit(op.jump) : -1;
    this.#patch(ask, 2, this.#here);
    if (!node.no) return;
    this.#node(node.no, flags);
    this.#patch(end, 1, this.#here);
  }
}

/** About how many instructions a node takes when its repeats are written out. */
export function sizeOf(node: Node): number {
  switch (node.op) {
    case "sequence":
      return node.items.reduce((sum, item) => sum + sizeOf(item), 0);
    case "choice":
      return node.branches.reduce((sum, branch) => sum + 2 + sizeOf(branch), 0);
    case "group":
      return 2 + sizeOf(node.body);
    case "atomic":
    case "look":
      return 2 + sizeOf(node.body);
    case "conditional":
      return 2 + sizeOf(node.yes) + (node.no ? sizeOf(node.no) : 0);
    case "repeat": {
      const rounds = node.most === unbounded ? node.least + 1 : node.most;
      return 2 + Math.max(1, rounds) * (1 + sizeOf(node.body));
    }
    default:
      return 1;
  }
}

function foldOf(flags: number): number {
  if (!(flags & flag.ignoreCase)) return 0;
  return flags & flag.ascii ? 2 : 1;
}

function placeNumber(place: Place, flags: number): number {
  if (place === "lineStart") return flags & flag.multiline ? places.lineStart : places.textStart;
  if (place === "lineEnd") {
    return flags & flag.multiline ? places.lineEnd : places.beforeLastNewline;
  }
  return places[place];
}
