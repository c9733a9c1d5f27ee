/** What Python's text patterns know of characters: categories, and which letters are the same. */
import type { Category } from "./syntax.ts";

/** Whether a code point is in a category; with `ascii`, only the first 128 ever are. */
export function inCategory(char: number, category: Category, ascii: boolean): boolean {
  switch (category) {
    case "digit":
      return char < 128
        ? char >= 48 && char <= 57
        : !ascii && /\p{Nd}/u.test(String.fromCodePoint(char));
    case "space":
      return isSpace(char, ascii);
    case "word":
      return isWord(char, ascii);
  }
}

/** Whether a code point is of `\w`: a letter, a number of any kind, or `_`. */
export function isWord(char: number, ascii: boolean): boolean {
  if (char >= 128) return !ascii && /[\p{L}\p{N}]/u.test(String.fromCodePoint(char));
  const lower = char | 32;
  return (lower >= 97 && lower <= 122) || (char >= 48 && char <= 57) || char === 95;
}

function isSpace(char: number, ascii: boolean): boolean {
  if (char === 32 || (char >= 9 && char <= 13)) return true;
  if (ascii) return false;
  return (char >= 0x1c && char <= 0x1f) || char === 0x85 || char === 0xa0 || char === 0x1680 ||
    (char >= 0x2000 && char <= 0x200a) || char === 0x2028 || char === 0x2029 ||
    char === 0x202f || char === 0x205f || char === 0x3000;
}

/** The small letter of a code point, itself where there is none. */
export function lowerOf(char: number, ascii: boolean): number {
  if (char < 128 || ascii) return char >= 65 && char <= 90 ? char + 32 : char;
  return String.fromCodePoint(char).toLowerCase().codePointAt(0) as number;
}

/** The capital of a code point; the first of them where it is several characters. */
export function upperOf(char: number): number {
  return String.fromCodePoint(char).toUpperCase().codePointAt(0) as number;
}

/** Whether ignoring case can matter to a code point. */
export function isCased(char: number, ascii: boolean): boolean {
  if (ascii || char < 128) return (char | 32) >= 97 && (char | 32) <= 122;
  return lowerOf(char, false) !== char || upperOf(char) !== char;
}

/** Small letters that share their capital, which Python takes for the same letter. */
const sameCapital =
  "iı sſ µμ \u0345\u03b9\u1fbe \u0390\u1fd3 \u03b0\u1fe3 βϐ εϵ θϑ κϰ πϖ ρϱ ςσ φϕ вᲀ дᲁ оᲂ сᲃ тᲄᲅ ъᲆ ѣᲇ ᲈꙋ \u1e61\u1e9b \ufb05\ufb06";

/** The other small letters that have the same capital as this small letter. */
export function sameLetters(lower: number): readonly number[] {
  const at = sameCapital.indexOf(String.fromCodePoint(lower));
  if (at < 0 || lower === 32) return [];
  const from = sameCapital.lastIndexOf(" ", at) + 1;
  const to = sameCapital.indexOf(" ", at);
  const family = sameCapital.slice(from, to < 0 ? undefined : to);
  return Array.from(family, (letter) => letter.charCodeAt(0)).filter((char) => char !== lower);
}
