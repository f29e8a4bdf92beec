"use strict";
/* Elements and numbers. Text goes in as text nodes only: a name can hold anything and is never read as HTML. */
const { h, svg, show, cut, label, replace } = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const LONGEST = 120;

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name === "style") for (const [key, to] of Object.entries(value)) element.style.setProperty(key, to);
      else if (name === "value" && "value" in element) element.value = value;
      else element.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children.flat(Infinity)) {
      if (child !== null && child !== undefined && child !== false) element.append(child);
    }
    return element;
  }

  const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const replace = (element, ...children) => {
    element.replaceChildren();
    return fill(element, null, children);
  };

  /* A number as people read it. */
  function show(value, digits = 4) {
    if (value === null || value === undefined || Number.isNaN(value)) return "missing";
    const size = Math.abs(value);
    if (size === 0) return "0"; /* and not −0 */
    if (size < 1e-4 || size >= 1e9) return value.toExponential(2).replace("-", "−");
    const whole = size >= 10 ** digits;
    const options = whole ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: digits };
    return value.toLocaleString("en", options).replace("-", "−");
  }
  show.signed = (value, digits = 3) => (value > 0 ? "+" : "") + show(Math.abs(value) < 1e-12 ? 0 : value, digits);
  show.share = (value) => {
    const percent = 100 * value;
    return `${percent > 0 && percent < 0.1 ? "< 0.1" : percent.toFixed(percent < 10 ? 1 : 0)} %`;
  };

  const cut = (text, most) => {
    const letters = Array.from(String(text).slice(0, 2 * most + 2));
    return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : String(text);
  };
  /* A name from the data, kept apart from the direction and the length of the text around it. */
  const label = (text, most = LONGEST) =>
    h("bdi", { class: "name", title: text.length > most ? cut(text, 1000) : null }, cut(text, most));
  return { h, svg, show, cut, label, replace };
})();
