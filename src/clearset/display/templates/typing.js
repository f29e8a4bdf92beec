/* What people type, without any page: which items it is, and which items it may become. */

import * as Tokens from "./tokens.js";

const MOST_JOINED = 5; /* pieces between commas that are looked up as one item */

/* Letter by letter, as Python's tokenizer does: a sigma that ends a word is no other letter, and of what
   becomes several letters (İ) the first counts. */
export function lower(text) {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  const letters = Array.from(text, (letter) => String.fromCodePoint(letter.toLowerCase().codePointAt(0)));
  return letters.join("");
}

export const isText = ({ tokens }) => tokens.tokeniser.kind === "ngrams" && tokens.tokeniser.split === null;

/* An item as people write it, and as tokens hold it. */
export const spoken = (item) => item.split(Tokens.BETWEEN).join(" + ");
export const unspoken = ({ tokens }, item) => (tokens.own ? item.split(" + ").join(Tokens.BETWEEN) : item);

const separators = ({ tokens }) => (tokens.tokeniser.kind === "ngrams" ? /\s/g : /[,;\n]/g);

/* What stands between separators, from each to each of the next few. */
function stretches(model, text) {
  const between = separators(model);
  const ends = [-1, ...Array.from(text.matchAll(between), (match) => match.index), text.length];
  const most = model.tokens.in_order ? 1 : MOST_JOINED;
  return ends
    .slice(0, -1)
    .map((start, i) =>
      ends.slice(i + 1, i + 1 + most).map((end) => unspoken(model, text.slice(start + 1, end).trim())),
    );
}

const words = (text) =>
  lower(text)
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter(Boolean);

const TAKEN_APART = { items: (item) => [item], subsets: (item) => [item], words };

/* The items that Python's tokenizer makes of one that people name: its words, or itself and them with their kinds. One
   that is written with its kind stays alone, and so do those of columns. */
function made(model, item) {
  const { kind, members = [] } = model.tokens.tokeniser;
  if (kind === "words") return words(item);
  const kinds = members.map((member) => member.kind);
  const whole = kinds.some((each) => !TAKEN_APART[each] || item.startsWith(`${each}=`));
  if (!kinds.length || whole) return [item];
  return kinds.flatMap((each) => TAKEN_APART[each](item).map((part) => `${each}=${part}`));
}

const knows = (model, item) =>
  Tokens.knows(model, item) ||
  made(model, item).some((part) => part.endsWith(`=${item}`) && Tokens.knows(model, part));

/* What a person types, as items: words of a text, or what stands between separators. An item may hold a
   comma itself: what is known as one stays whole, the longest first. */
export function split(model, text) {
  if (isText(model)) return words(text);
  const whole = unspoken(model, text.trim());
  if (knows(model, whole)) return made(model, whole);
  const found = stretches(model, text);
  const items = [];
  for (let i = 0; i < found.length; ) {
    let n = found[i].length - 1;
    while (n > 0 && !knows(model, found[i][n])) n--;
    items.push(found[i][n]);
    i += n + 1;
  }
  return items.filter(Boolean).flatMap((item) => made(model, item));
}

/* All that could be an item in what is typed. */
export function candidates(model, text) {
  const typed = [unspoken(model, text.trim()), ...stretches(model, text).flat()].filter(Boolean);
  return [...new Set(typed.flatMap((item) => [item, ...made(model, item)]))];
}

/* Of some items those that hold a text, in any case; those first that begin with it, then the short. */
export function matching(items, text) {
  const wanted = lower(text);
  const found = items.map((item) => [lower(spoken(item)).indexOf(wanted), item]).filter(([at]) => at >= 0);
  found.sort(([a, one], [b, other]) => (a > 0) - (b > 0) || one.length - other.length);
  return found.map(([, item]) => item);
}
