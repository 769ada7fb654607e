import js from "@eslint/js";

// What the modules of the page may use without importing it.
const browser = [
  "AudioContext", "CSS", "DOMParser", "Event", "FormData", "HTMLDetailsElement", "Element", "HTMLElement",
  "HTMLButtonElement", "HTMLFormElement", "HTMLInputElement", "IntersectionObserver", "Node", "ResizeObserver", "TextEncoder", "URL",
  "URLSearchParams", "WebSocket", "addEventListener", "clearInterval", "clearTimeout", "console",
  "crypto", "Blob", "document", "fetch", "getComputedStyle", "history", "innerHeight", "innerWidth",
  "localStorage", "location", "matchMedia", "navigator", "performance", "requestAnimationFrame",
  "scrollX", "scrollY", "sessionStorage", "setInterval", "setTimeout", "window",
];

export default [
  js.configs.recommended,
  {
    files: ["clients/web/*.js"],
    languageOptions: {
      ecmaVersion: 2023,
      sourceType: "module",
      globals: Object.fromEntries(browser.map((name) => [name, "readonly"])),
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
  },
];
