import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { AnswerReader, NotHttp } from "../lib/outbound/answer.ts";

/** Feeds a text in pieces of `step` bytes; which byte ended it, or undefined. */
function feed(text: string, step: number): { reader: AnswerReader; end: number | undefined } {
  const reader = new AnswerReader();
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; at += step) {
    if (reader.push(bytes.subarray(at, at + step))) return { reader, end: at + step };
  }
  return { reader, end: undefined };
}

const whole = {
  counted: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
  empty: "HTTP/1.1 204 No Content\r\n\r\n",
  chunked:
    "HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhel\r\n\r\n0\r\nT: 1\r\n\r\n",
  zeros: "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n7\r\n0\r\n\r\n0\r\r\n0\r\n\r\n",
  bare: "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
  mixed: "HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\nhello",
  early:
    "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100 C\r\n\r\nHTTP/1.1 200\r\ncontent-length:0\r\n\r\n",
};

test("an answer ends where it ends, however it is cut into pieces", () => {
  for (const [name, text] of Object.entries(whole)) {
    for (const step of [1, 2, 3, 7, text.length]) {
      const { reader, end } = feed(text, step);
      assert.equal(Math.min(end ?? -1, text.length), text.length, `${name} by ${step}`);
      assert.equal(reader.reusable, true, `${name} by ${step}`);
    }
  }
  assert.equal(feed(whole.chunked, 9).reader.status, 500);
  assert.equal(feed(whole.early, 9).reader.status, 200);
});

test("a connection is not used again when its end, its version or its headers forbid it", () => {
  const reusable = (text: string) => feed(text, text.length).reader.reusable;
  assert.equal(reusable("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"), false);
  assert.equal(
    reusable("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n"),
    false,
  );
  assert.equal(reusable("HTTP/1.1 200 OK\r\n\r\nuntil the end"), false);
  assert.equal(reusable(`${whole.counted}HTTP/1.1 200 OK\r\n`), false);
});

test("Location and the other side's patience are read, whatever the letters' case", () => {
  const { reader } = feed(
    "HTTP/1.1 302 Found\r\nLOCATION:  /there \r\nKeep-Alive: timeout=7, max=9\r\n\r\n",
    11,
  );
  assert.deepEqual([reader.status, reader.location, reader.keepAlive], [302, "/there", 7]);
});

test("what is not HTTP/1 is refused", () => {
  assert.throws(() => feed("SSH-2.0-OpenSSH\r\n\r\n", 5), NotHttp);
  assert.throws(() => feed("HTTP/2 200\r\n\r\n", 50), NotHttp);
  const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  assert.throws(() => feed(`${chunked}zz\r\n`, 500), NotHttp);
});
