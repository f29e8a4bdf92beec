/* Tokens of sets of strings and texts, without any page: which of the document's tokens an example has, their
   values, and from these the prediction. */

import * as Evaluate from "./evaluate.js";

export const BETWEEN = "\u001f"; /* joins the parts of a token of one's own tokenizer */
const prepared = new WeakMap();

/* Put a token into the tree, unless it is there; tell whether it was not. */
function insert(root, codes, token) {
  let node = root;
  for (const code of codes) {
    if (!node.next.has(code)) node.next.set(code, { token: -1, next: new Map() });
    node = node.next.get(code);
  }
  if (node.token >= 0) return false;
  node.token = token;
  return true;
}

/* The prefix tree of the tokens, and where each item of the vocabulary stands; made once for a document. */
function index(model) {
  if (!prepared.has(model)) {
    const { items, vocabulary, corrections } = model.tokens;
    const root = { token: -1, next: new Map() };
    for (const [token, codes] of items.entries()) insert(root, codes, token);
    const codes = new Map(vocabulary.map((item, code) => [item, code]));
    const refined = new Map(corrections.places.map((token, i) => [token, corrections.amounts[i]]));
    prepared.set(model, { root, codes, refined });
  }
  return prepared.get(model);
}

/* Take in tokens that are described as those of the document are. Items of a set go by their codes here. */
export function learn(model, more) {
  const { vocabulary, items, sizes, counts, labels, own_features: own, in_order: inOrder } = model.tokens;
  const { root, codes, refined } = index(model);
  const coded = more.vocabulary.map((item) => {
    if (!codes.has(item)) codes.set(item, vocabulary.push(item) - 1);
    return codes.get(item);
  });
  const amounts = new Map(more.corrections.places.map((place, i) => [place, more.corrections.amounts[i]]));
  more.items.forEach((row, i) => {
    const token = items.length;
    const its = row.map((code) => coded[code]);
    if (!inOrder) its.sort((a, b) => a - b);
    if (!insert(root, its, token)) return;
    items.push(its);
    sizes.push(more.sizes[i]);
    counts.push(more.counts[i]);
    labels.push(more.labels[i]);
    for (const name of Object.keys(own)) own[name].push(more.own_features[name][i]);
    if (amounts.has(i)) refined.set(token, amounts.get(i));
  });
}

export const knows = (model, item) => index(model).codes.has(item);

/* All occurrences of tokens among the codes, as {token: [places of its items, ...]}. */
function walk(root, codes, inOrder) {
  const found = new Map();
  function grow(node, places, from) {
    if (node.token >= 0) {
      if (!found.has(node.token)) found.set(node.token, []);
      found.get(node.token).push(places);
    }
    if (!node.next.size) return;
    const until = inOrder && places.length ? Math.min(from + 1, codes.length) : codes.length;
    for (let at = from; at < until; at++) {
      const next = node.next.get(codes[at]);
      if (next) grow(next, [...places, at], at + 1);
    }
  }
  grow(root, [], 0);
  return found;
}

/* From the largest size down, keep the tokens with a place that no kept larger token has. */
function covering(found, sizes) {
  const covered = new Set();
  const kept = [];
  const bySize = new Map();
  for (const token of found.keys()) {
    if (!bySize.has(sizes[token])) bySize.set(sizes[token], []);
    bySize.get(sizes[token]).push(token);
  }
  for (const size of [...bySize.keys()].sort((a, b) => b - a)) {
    const open = bySize
      .get(size)
      .filter((token) => found.get(token).some((at) => at.some((p) => !covered.has(p))));
    for (const p of open.flatMap((token) => found.get(token).flat())) covered.add(p);
    kept.push(...open);
  }
  return kept;
}

/* The tokens of an example, and its number of items. */
function find(model, items) {
  const { own, in_order: inOrder, cover, vocabulary, sizes } = model.tokens;
  const { root, codes } = index(model);
  const distinct = inOrder ? items : [...new Set(items)];
  let coded = distinct.map((item) => (codes.has(item) ? codes.get(item) : -1));
  if (!inOrder) coded = coded.filter((code) => code >= 0).sort((a, b) => a - b);
  const found = walk(root, coded, inOrder);
  const parts = (code) => vocabulary[code].split(BETWEEN);
  if (own) for (const places of found.values()) places[0] = parts(coded[places[0][0]]);
  const kept = cover ? covering(found, sizes) : [...found.keys()];
  const all = own ? new Set(distinct.flatMap((item) => item.split(BETWEEN))) : distinct;
  const unknown = [...new Set(distinct)].filter((item) => !codes.has(item));
  return { tokens: kept.sort((a, b) => a - b), nItems: own ? all.size : all.length, unknown };
}

const inside = (share) => Math.min(Math.max(share, 1e-6), 1 - 1e-6);
const logit = (share) => Math.log(inside(share)) - Math.log1p(-inside(share));

/* Prior and mean labels of a token, one number for each column of values, drawn to the prior. */
export function means(model, token, shrinkage = model.tokens.shrinkage) {
  const { labels, table_classes: n, prior } = model.tokens;
  const known = labels[token];
  const priors = n === 2 ? prior.slice(1) : prior;
  const sums = priors.map(() => 0);
  let weight = 0;
  if (n === 0) {
    weight = known[0];
    sums[0] = weight > 0 ? known[0] * known[1] : 0;
  } else {
    for (let i = 0; i < known.length; i += 2) {
      weight += known[i + 1];
      const column = n === 2 ? known[i] - 1 : known[i];
      if (column >= 0) sums[column] += known[i + 1];
    }
  }
  const total = weight + shrinkage;
  return {
    priors,
    means: sums.map((sum, c) => (total > 0 ? (sum + shrinkage * priors[c]) / total : priors[c])),
  };
}

/* A token's value for each column: as counted, and with its learned correction. */
export function values(model, token) {
  const { priors, means: shrunk } = means(model, token);
  const odds = model.tokens.value === "log_odds";
  const estimate = shrunk.map((mean, c) => (odds ? logit(mean) - logit(priors[c]) : mean));
  const amounts = index(model).refined.get(token);
  return {
    estimate,
    refined: amounts ? estimate.map((value, c) => value + amounts[c]) : estimate,
    corrected: !!amounts,
  };
}

function detail(model, token, example, name) {
  const numbers = example.details?.[name] || [];
  const codes = new Set(model.tokens.items[token]);
  const lookup = index(model).codes;
  const byItem = new Map();
  example.items.forEach((item, i) => {
    const code = lookup.get(item);
    if (!codes.has(code) || numbers[i] === null || numbers[i] === undefined) return;
    if (!byItem.has(code)) byItem.set(code, []);
    byItem.get(code).push(numbers[i]);
  });
  const average = (list) => list.reduce((a, b) => a + b, 0) / list.length;
  return byItem.size ? average([...byItem.values()].map(average)) : null;
}

/* The features of a token beside its value, by name. */
function features(model, token, example, found, nTokens = found.tokens.length) {
  const { counts, sizes, own_features: own } = model.tokens;
  const known = {
    count: () => counts[token],
    size: () => sizes[token],
    whole: () => (sizes[token] === found.nItems ? 1 : 0),
  };
  return model.features.slice(1).map(({ name, scope }) => {
    if (scope === "set") return name === "items" ? found.nItems : nTokens;
    if (token < 0) return null;
    if (name in own) return own[name][token];
    return name in known ? known[name]() : detail(model, token, example, name);
  });
}

export const columns = (model) => model.support.base.length;

/* The scores of a token, class after class; the feature `usual`, where one is given, as it is on average. */
const scored = (model, value, others, usual) =>
  model.support.base.flatMap((_, c) =>
    Evaluate.phi(model, [value ? value.refined[c] : null, ...others], usual),
  );

export function evaluate(model, example) {
  const found = find(model, example.items);
  const n = found.tokens.length;
  const rows = (n ? found.tokens : [-1]).map((token, at) => {
    const others = features(model, token, example, found);
    const value = token < 0 ? null : values(model, token);
    return { at, token, value, others, scores: scored(model, value, others) };
  });
  const scores = rows.map((row) => row.scores);
  return { found, rows, ...Evaluate.fromScores(model, scores, n) };
}

/* What is said of an example without one of its tokens, as a function of its place; null where there would be none,
   or too many to compare. Its items stay: only the number of tokens falls. */
export function without(model, example, { found, rows, scores, n }) {
  if (n < 2 || n > Evaluate.MOST_COMPARED) return null;
  const counted = model.features.some(({ name, scope }) => scope === "set" && name === "tokens");
  const rescored = ({ token, value }) => scored(model, value, features(model, token, example, found, n - 1));
  return Evaluate.leaving(model, counted ? rows.map(rescored) : scores, n);
}

/* The scores of an example's tokens if a feature of the whole example were as it is on average. */
export const asUsual =
  (model, { rows }) =>
  (d) =>
    rows.map(({ value, others }) => scored(model, value, others, d));

/* What is said if a feature were another: of the token at a place, or of the whole example. Of several classes, the
   value that the table knows is another only for the class that is looked at. */
export function moved(model, { rows, scores, n }, at, c, d, to) {
  const { width } = model.function;
  const whole = model.features[d].scope === "set";
  const changed = rows.map(({ value, others }, i) => {
    if (!whole && i !== at) return scores[i];
    if (d)
      return scored(
        model,
        value,
        others.map((own, e) => (e === d - 1 ? to : own)),
      );
    const own = Evaluate.phi(model, [to, ...others]);
    return scores[i].map((score, k) => (Math.floor(k / width) === c ? own[k % width] : score));
  });
  return Evaluate.fromScores(model, changed, n);
}

/* A token as people read it: its items, in alphabetical order except where order matters. */
export function spell(model, token) {
  const { items, vocabulary, in_order: inOrder, own } = model.tokens;
  const parts = items[token].flatMap((code) => vocabulary[code].split(BETWEEN));
  return inOrder || own ? parts : parts.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/* Whether a feature tells what a table has counted of a token, so that no set can have other values than the table. */
export const isCounted = ({ semantic, tokens }, { name }) =>
  semantic && [tokens.value, "count", "size", "whole", ...Object.keys(tokens.own_features)].includes(name);

/* What stands between the items of a token: words that follow each other are read as text. */
export const joint = ({ tokens }) => (tokens.in_order && !tokens.own ? " " : " + ");
