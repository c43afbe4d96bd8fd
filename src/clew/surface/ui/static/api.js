// Ask the HTTP API with the caller's own rights. The token is kept in this tab's session storage and nowhere else.
import { useCallback, useEffect, useRef, useState } from "./core.js";

const KEY = "clew-token";
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("clew-token") : null;
export const session = new EventTarget();

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || `The server answered ${status}.`);
    this.status = status;
    this.code = body.code || "";
    this.body = body;
  }
}

export const token = () => sessionStorage.getItem(KEY);

export function keepToken(value) {
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
  session.dispatchEvent(new Event("change"));
}

// A second tab of the same browser asks the first one, so that a link that works once is enough.
if (channel) {
  channel.onmessage = ({ data }) => {
    if (data.ask && token()) channel.postMessage({ answer: token() });
    if (data.answer && !token()) keepToken(data.answer);
  };
}
export function askOtherTabs() {
  channel?.postMessage({ ask: true });
}

export async function request(method, path, body, { signal } = {}) {
  const headers = { "X-Clew-Page": "1", Accept: "application/json" };
  if (token()) headers.Authorization = `Bearer ${token()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "The server does not answer. Is clew still running?", code: "page.offline" });
  }
  let answer;
  try {
    answer = await response.json();
  } catch {
    answer = { detail: `The server answered ${response.status} without a document.` };
  }
  if (!response.ok) {
    const failure = new Problem(response.status, answer);
    failure.retryAfter = Number(response.headers.get("Retry-After")) || 0;
    if (response.status === 401) session.dispatchEvent(new Event("refused"));
    throw failure;
  }
  return answer;
}

// The link of `clew ui` holds a secret behind #, which no server and no log sees; it is exchanged and taken out of the address.
export async function redeemLink() {
  const once = new URLSearchParams(location.hash.slice(1)).get("once");
  if (!once) return;
  history.replaceState(null, "", location.pathname + location.search);
  if (token()) keepToken(null);
  const { key } = await request("POST", "/ui/session", { once });
  keepToken(key);
}

// Ask when an address changes; an earlier answer stays visible until the next is there.
export function useApi(method, path, body) {
  const key = path === null ? null : JSON.stringify([method, path, body]);
  const [state, set] = useState({ loading: key !== null });
  const [turn, again] = useState(0);
  const began = useRef(0);
  useEffect(() => {
    if (key === null) {
      set({ loading: false });
      return undefined;
    }
    const control = new AbortController();
    began.current = performance.now();
    set((old) => ({ ...old, loading: true }));
    request(method, path, body, { signal: control.signal }).then(
      (data) => set({ data, loading: false, key, milliseconds: performance.now() - began.current }),
      (error) => error.name === "AbortError" || set({ error, loading: false, key }),
    );
    return () => control.abort();
  }, [key, turn]);
  const reload = useCallback(() => again((count) => count + 1), []);
  return { ...state, reload, method, path, body };
}

// Ask page by page: what is scrolled to is fetched, nothing in bulk.
export function usePages(path, field, size = 100) {
  const [state, set] = useState({ rows: [], cursor: "", loading: true });
  const current = useRef(path);
  const load = async (from, rows) => {
    const asked = path;
    set((old) => ({ ...old, loading: true, error: undefined }));
    try {
      const mark = path.includes("?") ? "&" : "?";
      const cursor = from ? `&cursor=${encodeURIComponent(from)}` : "";
      const data = await request("GET", `${path}${mark}limit=${size}${cursor}`);
      if (current.current === asked) set({ rows: [...rows, ...data[field]], cursor: data.cursor, loading: false, data });
    } catch (error) {
      if (current.current === asked) set((old) => ({ ...old, loading: false, error }));
    }
  };
  const [turn, again] = useState(0);
  useEffect(() => {
    current.current = path;
    load("", []);
  }, [path, turn]);
  const more = () => state.cursor && !state.loading && load(state.cursor, state.rows);
  return { ...state, more, reload: () => again((count) => count + 1), method: "GET", path };
}

export const query = (values) => {
  const made = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined && each !== null && each !== "") made.append(name, each);
  }
  const text = made.toString();
  return text ? `?${text}` : "";
};
