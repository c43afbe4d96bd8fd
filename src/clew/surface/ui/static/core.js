// The renderer under short names, and where the page is: its address is its state.
import { createContext, Fragment, h, render } from "./vendor/preact.js";
import { useCallback, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/hooks.js";
import htm from "./vendor/htm.js";

export const html = htm.bind(h);
export { createContext, Fragment, render, useCallback, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState };

export const Shell = createContext(null); // who is calling, the chosen space, notices

const listeners = new Set();

export function here() {
  return { path: location.pathname.replace(/\/+$/, "") || "/ui", query: new URLSearchParams(location.search) };
}

export function go(to, { replace = false } = {}) {
  if (to !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", to);
  for (const listener of listeners) listener();
}

export function useAddress() {
  const [address, set] = useState(here());
  useEffect(() => {
    const listener = () => set(here());
    listeners.add(listener);
    addEventListener("popstate", listener);
    return () => {
      listeners.delete(listener);
      removeEventListener("popstate", listener);
    };
  }, []);
  return address;
}

// Return the address with some parameters changed; an empty one goes.
export function withQuery(changes, base = here()) {
  const query = new URLSearchParams(base.query);
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== undefined && each !== "" && each !== false) query.append(name, each);
    }
  }
  const text = query.toString();
  return base.path === "/ui" ? `/ui/${text && `?${text}`}` : `${base.path}${text && `?${text}`}`;
}

// A link inside the page; with a modifier key the browser does as it always does.
export function Link({ to, children, ...rest }) {
  const follow = (event) => {
    if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
    scrollTo(0, 0);
  };
  return html`<a href=${to} onClick=${follow} ...${rest}>${children}</a>`;
}

// Call a function for single keys, unless somebody types or a dialog is open.
export function useKeys(keys) {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const listener = (event) => {
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
      const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
      const pressed = event.target.closest?.("button, a, summary") && (event.key === "Enter" || event.key === " ");
      const found = current.current[event.key];
      if (!found || pressed || document.querySelector("dialog[open]")) return;
      if (typing && event.key !== "Escape") return;
      if (found(event) !== false) event.preventDefault();
    };
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
  }, []);
}

// Return an address of the page in the space that is shown.
export function at(path, values = {}) {
  const query = new URLSearchParams();
  const space = here().query.get("space");
  if (space) query.set("space", space);
  for (const [name, value] of Object.entries(values)) if (value !== null && value !== undefined && value !== "") query.set(name, value);
  const text = query.toString();
  return path + (text && `?${text}`);
}
export const memoryAt = (id, tail = "", values = {}) => at(`/ui/m/${encodeURIComponent(id)}${tail}`, values);
