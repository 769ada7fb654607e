// A window over the page.

import { html } from "./dom.js";

/**
 * A window over the page, with a heading and a way to close it.
 * @param {string} id
 * @param {string} title
 * @param {import("./dom.js").Child[]} content
 */
export function dialog(id, title, ...content) {
  const close = html("button", { type: "button", class: "close" }, "Close");
  const node = html("dialog", { id, "aria-labelledby": `${id}-title` }, html("h2", { id: `${id}-title` }, title), ...content, close);
  close.addEventListener("click", () => node.close());
  node.addEventListener("click", (event) => { if (event.target === node) node.close(); });
  return node;
}
