/* Where the model goes beyond what it has learned from, in words. */

import { count, named, show } from "./elements.js";
import * as Evaluate from "./evaluate.js";
import * as Features from "./features.js";
import * as Tokens from "./tokens.js";

/* `rows` are the values of each of n tokens, features of the whole set the same in all. */
export function cautions(model, rows, n) {
  const { tokens } = model.support;
  if (!n) {
    const instead =
      model.nothing || tokens > 1
        ? "this is what is said of sets of which nothing is known"
        : "it is read as one token whose features are all missing";
    return [`${model.semantic ? "No known token" : "No token"}: ${instead}`];
  }
  const few =
    n < tokens
      ? [`${count(n, "token")}; most training sets had ${tokens} and more: drawn to the base rate`]
      : [];
  const beyond = (feature, d) => (Tokens.isCounted(model, feature) ? [] : ofFeature(model, d, rows));
  return [...few, ...model.features.flatMap(beyond)];
}

function ofFeature(model, d, rows) {
  const feature = model.features[d];
  const values = Evaluate.ofTokens(feature) ? rows.map((row) => row[d]) : [rows[0][d]];
  const { keypoints, categories } = feature;
  const [low, high] = keypoints ? [keypoints[0], keypoints.at(-1)] : [0, categories.length];
  const odd = values.filter((value) => value !== null && (value < low || value > high));
  if (!odd.length) return [];
  const where = odd.length > 1 ? ` in ${count(odd.length, "token")}` : "";
  const name = named(Features.title(model, feature), 40);
  if (categories) return [`${name} is a category that training did not have${where}: it counts as missing`];
  const given = odd.length > 1 ? "" : ` (${show(odd[0])})`;
  const range = `${show(low)} to ${show(high)}`;
  return [`${name}${given} is outside ${range}${where}: the nearest of these counts`];
}
