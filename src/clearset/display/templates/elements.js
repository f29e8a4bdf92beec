/* Elements and numbers. Text goes in as text nodes only, so that no name is read as HTML. */

const SVG = "http://www.w3.org/2000/svg";
const LONGEST = 120;

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style")
      for (const [key, to] of Object.entries(value)) element.style.setProperty(key, to);
    else if (name === "value" && "value" in element) element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);
/* Other children. Who had the focus among the old ones gets it back at the same place. */
export function replace(element, ...children) {
  const places = () => [...element.querySelectorAll("button, summary, input, select, [tabindex]")];
  const at = places().indexOf(document.activeElement);
  element.replaceChildren();
  fill(element, null, children);
  if (at >= 0) (places()[at] || places().at(-1) || element).focus({ preventScroll: true });
  return element;
}

/* A number as people read it. */
export function show(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "missing";
  const size = Math.abs(value);
  if (size === 0) return "0"; /* and not −0 */
  if (size < 1e-4 || size >= 1e9) return value.toExponential(2).replace("-", "−");
  const whole = size >= 10 ** digits;
  const options = whole ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: digits };
  return value.toLocaleString("en", options).replace("-", "−");
}
show.signed = (value, digits = 3) =>
  (value > 0 ? "+" : "") + show(Math.abs(value) < 1e-12 ? 0 : value, digits);
show.share = (value, digits = 1) => {
  const least = 10 ** -digits;
  if (value > 0 && 100 * value < least) return `< ${least} %`;
  if (value < 1 && 100 * (1 - value) < least) return `> ${(100 - least).toFixed(digits)} %`;
  return `${(100 * value).toFixed(digits)} %`;
};
/* A number with so many decimals. */
show.fixed = (value, decimals, signed = false) => {
  const options = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const text = value.toLocaleString("en", { ...options, signDisplay: signed ? "exceptZero" : "negative" });
  return text.replace("-", "−");
};
/* As many decimals as leave the largest of some numbers so many digits; null where they are too large or small. */
show.decimals = (largest, digits) => {
  if (largest >= 1e9 || (largest > 0 && largest < 1e-4)) return null;
  return Math.min(Math.max(digits - 1 - Math.floor(Math.log10(largest || 1)), 0), 6);
};
/* Numbers of one column: with as many decimals each, so that they stand under each other. */
show.column = (values, { digits = 4, signed = false } = {}) => {
  const none = (value) => value === null || value === undefined || Number.isNaN(value);
  const largest = Math.max(...values.map((value) => (none(value) ? 0 : Math.abs(value))), 0);
  const decimals = show.decimals(largest, digits);
  return values.map((value) => {
    if (none(value)) return "–";
    if (decimals === null) return signed ? show.signed(value) : show(value);
    return show.fixed(value, decimals, signed);
  });
};

export const cut = (text, most) => {
  const letters = Array.from(String(text).slice(0, 2 * most + 2));
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : String(text);
};
/* A name from the data as plain text: not longer than that, and something where there is nothing to see. */
export const named = (text, most = LONGEST) =>
  String(text).trim() ? cut(text, most) : text === "" ? "(empty)" : "(blank)";
/* The same as an element, kept apart from the direction and the length of the text around it. */
export const label = (text, most = LONGEST) => {
  const title = text.length > most ? cut(text, 1000) : null;
  return h("bdi", { class: text.trim() ? "name" : "name empty", title }, named(text, most));
};

/* A table that scrolls within its own box. Columns are [name, "number" if it holds numbers]; a row is its
   cells, or {class, cells}. */
export function table(columns, rows, { kind } = {}) {
  const cell = (tag, content, i, more) => h(tag, { class: columns[i][1], ...more }, content);
  const cells = (row) => row.map((content, i) => cell("td", content, i));
  const head = columns.map(([name], i) =>
    cell("th", label(name.replaceAll("-", "\u2011"), 40), i, { scope: "col" }),
  );
  const body = rows.map((row) => h("tr", { class: row.class }, cells(row.cells || row)));
  const parts = [h("thead", null, h("tr", null, head)), h("tbody", null, body)];
  return h("div", { class: "scroll" }, h("table", { class: kind }, parts));
}

export const count = (n, one, several = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : several}`;
